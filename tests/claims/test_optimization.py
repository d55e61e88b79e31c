"""The claims of the chapter on optimization."""

import itertools
import math
import re
import runpy
from threading import Event

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import trainer
from batching import example_of
from evidence.comparisons import compare_loss
from helpers import SNIPPETS, few, measured, numbers, seeds
from marks import claim, mutation
from small_training import PAIRS, SHORT, small_translator
from train import TASKS
from trainer import (
    SINGLE_PROCESS,
    forward_backward,
    linear_learning_rate,
    noam_learning_rate,
)
from transformer import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    LayerNorm,
    TransformerConfig,
)
from translator import new_translator

CHAPTER = "optimization"


def number(text: str) -> float:
    """The first number of a text; a percentage as a fraction."""
    found = re.search(r"-?\d+\.?\d*%?", text)
    assert found, text
    return float(found[0].rstrip("%")) / (100 if found[0].endswith("%") else 1)


# Batches


@claim("optimization#batches")
def test_sorting_by_length_removes_most_of_the_padding(printed):
    shown = printed("examples", "padding")
    assert number(shown["of like length"]) < number(shown["as drawn"]) / 3
    assert number(shown["as drawn"]) > 1 / 3


@claim("optimization#batches")
def test_every_token_counts_equally_in_any_sentence():
    """Sentences are not weighted equally: the gradients are those of all tokens together."""
    translator = small_translator(dropout=0.0)
    examples = [example_of(translator, PAIRS[n]) for n in (7, 142)]
    parts = []
    for example in examples:
        translator.model.zero_grad()
        forward_backward(translator.model, [example], SHORT, SINGLE_PROCESS)
        parts.append([p.grad for p in translator.model.parameters()])
    short, long = (len(tgt) - 1 for _, tgt in examples)
    translator.model.zero_grad()
    forward_backward(translator.model, examples, SHORT, SINGLE_PROCESS)
    for p, a, b in zip(translator.model.parameters(), *parts, strict=True):
        expected = (short * a + long * b) / (short + long)
        torch.testing.assert_close(p.grad, expected, rtol=1e-4, atol=1e-6)


# Dropout


@claim("optimization#dropout")
def test_dropout_deletes_or_doubles_in_training_and_does_nothing_at_inference(printed):
    shown = printed("examples", "dropout")
    values = {name: numbers(text) for name, text in shown.items()}
    assert values["inference"] == [1, 2, 3, 4]
    assert values["training"] != values["training, again"]
    for name in "training", "training, again":
        kept = zip(values[name], values["inference"], strict=True)
        assert all(after in (0, 2 * before) for after, before in kept)
        assert 0 in values[name] and sum(values[name]) > 0


@claim("optimization#dropout")
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize(("count", "place"), [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)])
def test_a_layer_applies_dropout_only_to_the_sublayer_outputs(count, place, norm_first):
    config = TransformerConfig(
        9, 12, d_model=1000, nhead=2, dim_feedforward=8, dropout=0.25, norm_first=norm_first
    )
    layer = (EncoderLayer if count == 2 else DecoderLayer)(config)
    outputs = [torch.ones_like if i == place else torch.zeros_like for i in range(count)]
    for name, function in zip(("self_attention", "cross_attention"), outputs[:-1], strict=False):
        getattr(layer, name).forward = lambda x, *_, f=function: (f(x), None)
    layer.feed_forward.forward = outputs[-1]
    for norm in layer.children():
        if isinstance(norm, LayerNorm):
            norm.forward = lambda x: x
    x = torch.full((1, 40, 1000), 5.0)
    inputs = (x,) if count == 2 else (x, x)
    torch.manual_seed(0)
    y = layer(*inputs)
    torch.testing.assert_close(y.unique(), torch.tensor([5.0, 5 + 4 / 3]))
    assert abs((y == 5.0).double().mean().item() - 0.25) < 0.02


@claim("optimization#dropout")
@mutation(
    "transformer.py",
    "return self.linear2(self.dropout(hidden))",
    "return self.dropout(self.linear2(hidden))",
    fault="the feed-forward network applies dropout to its output instead of its hidden units",
)
def test_the_network_applies_dropout_to_hidden_units():
    network = FeedForward(1000, 1000, dropout=0.25)
    with torch.no_grad():
        for linear in network.linear1, network.linear2:
            linear.weight.copy_(torch.eye(1000))
            linear.bias.fill_(1.0)
    torch.manual_seed(0)
    y = network(torch.full((40, 1000), 2.0))  # hidden: 3
    torch.testing.assert_close(y.unique(), torch.tensor([1.0, 5.0]))  # never 0: not the output
    assert abs((y == 1.0).double().mean().item() - 0.25) < 0.02


# Label smoothing


@st.composite
def loss_inputs(draw):
    """Logits, targets with some to ignore, a smoothing, and the id to ignore."""
    torch.manual_seed(draw(seeds))
    shape = draw(st.sampled_from([(1,), (5,), (2, 3), (2, 2, 2)]))
    vocab_size = draw(st.integers(2, 9))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    logits = torch.randn(*shape, vocab_size, dtype=dtype) * 5
    targets = torch.randint(vocab_size, shape)
    ignored = draw(st.sampled_from([0, vocab_size - 1, -100]))
    targets[torch.rand(shape) < 0.3] = ignored
    targets.view(-1)[0] = 1
    return logits, targets, draw(st.sampled_from([0.0, 0.1, 1.0])), ignored


@claim("optimization#loss")
@few
@given(given=loss_inputs())
def test_the_loss_and_its_gradient_equal_those_of_pytorch(given):
    compare_loss(*given)


@claim("optimization#loss")
@mutation(
    "examples/optimization/smoothing.py",
    "q[correct] += 0.9",
    "q[correct] += 1",
    fault="the smoothed target adds up to more than 1",
)
def test_the_smoothed_target_of_the_example_gives_the_loss_of_pytorch(capsys):
    runpy.run_path(str(SNIPPETS / "examples/optimization/smoothing.py"))
    assert "loss: 0.619; of PyTorch: 0.619" in capsys.readouterr().out


@claim("optimization#loss")
@mutation(
    "examples/optimization/least_loss.py",
    "return -right * math.log(right)",
    "return +right * math.log(right)",
    fault="the term of the correct token has the wrong sign",
)
def test_with_314_tokens_the_loss_is_smallest_when_the_correct_token_has_probability_nine_tenths(
    printed,
):
    p = torch.linspace(0.5, 0.9999, 100_000, dtype=torch.float64)
    q, others = 0.1 / 314, (1 - p) / 313
    loss = -(0.9 + q) * p.log() - 313 * q * others.log()
    shown = printed("examples", "least_loss")
    assert number(shown["314 tokens"]) == pytest.approx(loss.min().item(), abs=1e-3)
    best = p[loss.argmin()].item()
    assert number(shown["314 tokens, the right one gets"]) == pytest.approx(best, abs=1e-3)


# Adam


@claim("optimization#adam")
@mutation(
    "examples/optimization/adam.py",
    "m / (1 - 0.9**t)",
    "m",
    fault="Adam by hand doesn't correct its first average",
)
def test_adam_by_hand_equals_pytorchs_and_may_move_along_the_newest_gradient(capsys):
    runpy.run_path(str(SNIPPETS / "examples" / CHAPTER / "adam.py"))
    weights = re.findall(r"\bw = (\d\.\d+)", capsys.readouterr().out)
    assert weights[0::2] == weights[1::2]
    first, second = map(float, weights[0::2])
    assert first == pytest.approx(1 - 0.1 * 1)
    assert second == pytest.approx(first - 0.1 * 0.267, abs=1e-4)


@claim("optimization#adam")
def test_adam_has_the_settings_of_the_paper():
    ours = trainer.Trainer(small_translator(), PAIRS, [], SHORT).optimizer.defaults
    assert (ours["betas"], ours["eps"]) == ((0.9, 0.98), 1e-9)


# The learning rate


@claim("optimization#rate")
@pytest.mark.parametrize("step", [1, 2, 7, 50])
@pytest.mark.parametrize("d_model", [1, 64])
@pytest.mark.parametrize("warmup", [1, 2, 7])
def test_the_papers_learning_rate_follows_its_equation(step, d_model, warmup):
    rise, fall = step / warmup**1.5, 1 / math.sqrt(step)
    expected = (rise if step < warmup else fall) / math.sqrt(d_model)
    assert noam_learning_rate(step, d_model, warmup) == pytest.approx(expected)


@claim("optimization#rate")
@pytest.mark.parametrize(("warmup", "steps"), [(1, 2), (3, 9), (8, 9)])
def test_our_learning_rate_is_the_smaller_of_two_straight_lines(warmup, steps):
    for step in range(1, steps + 1):
        expected = 0.25 * min(step / warmup, (steps + 1 - step) / (steps + 1 - warmup))
        assert linear_learning_rate(step, 0.25, warmup, steps) == pytest.approx(expected)


@claim("optimization#adam", kind="measurement")
def test_dropout_helps_with_few_pairs_and_adam_more_than_gradient_descent(printed):
    measured("remedies")
    shown = {name: number(text) for name, text in printed("examples", "remedies").items()}
    assert shown["no dropout, training numbers"] == 1
    assert shown["dropout 0.1, new numbers"] > shown["no dropout, new numbers"] + 0.1
    assert shown["Adam, new numbers"] > shown["gradient descent, new numbers"] + 0.05


@claim("optimization#rate", kind="measurement")
def test_warm_up_allows_a_larger_learning_rate(printed):
    shown = printed("examples", "reasons")
    for norm, at_most in ("pre-norm", 0.9), ("post-norm", 0.01):
        for rate in 0.002, 0.004, 0.008:
            assert number(shown[f"{norm}, {rate}, with warm-up"]) > 0.95
        assert number(shown[f"{norm}, 0.002, without warm-up"]) > 0.95
        assert number(shown[f"{norm}, 0.008, without warm-up"]) < at_most


# The loop


@claim("optimization#real-loop")
@mutation(
    "examples/optimization/loop.py",
    "label_smoothing=0.1",
    "label_smoothing=0.0",
    fault="the loop of the page doesn't smooth the targets",
)
def test_the_losses_of_the_loop_are_those_of_the_trainer(printed):
    shown = printed("examples", "loop")
    task = TASKS["translator"]
    pairs = task.pairs("train")
    made = trainer.Trainer(new_translator(pairs, **task.sizes), pairs, [], task.settings)
    losses = [loss for loss, _ in itertools.islice(made.steps(Event()), 40)]
    assert number(shown["loss at step 1"]) == pytest.approx(losses[0], abs=2e-3)
    assert number(shown["loss at step 40"]) == pytest.approx(losses[39], abs=2e-3)


# Exercises


@claim("optimization#exercises")
def test_the_papers_formula_with_our_peak_is_in_warm_up_for_two_thirds_of_training(printed):
    shown = printed("exercises", "which_warm_up")
    assert number(shown["warm-up"]) / 1500 == pytest.approx(2 / 3, abs=0.02)
    assert number(shown["peak"]) == 0.004
    assert number(shown["at step 1500"]) / 0.004 == pytest.approx(0.8, abs=0.02)


@claim("optimization#exercises")
def test_parts_of_a_batch_are_weighted_by_their_tokens(printed):
    shown = printed("exercises", "accumulate")
    assert number(shown["as it is, off by"]) > 0.1
    assert number(shown["by tokens, off by"]) < 1e-5


@claim("optimization#exercises")
def test_a_training_resumed_without_all_its_state_diverges(printed):
    shown = printed("exercises", "forgotten")
    assert number(shown["all, off by"]) == 0
    assert number(shown["all but the optimizer, off by"]) > 0
    assert number(shown["all but the step, off by"]) > 0
