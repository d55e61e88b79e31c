"""The claims of the chapter on training."""

import ast
import io
import itertools
import json
import math
import multiprocessing
import os
import random
import re
import runpy
import signal
import socket
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.parallel import DistributedDataParallel

import checkpoints
import corpus
import train as training
import translator as translators
from bookbuild.pages.sections import without_section_markers
from checkpoints import load_checkpoint, save_checkpoint, write_whole
from comparisons import compare_loss
from corpus import Pair
from helpers import ROOT, SNIPPETS, few, seeds
from marks import claim, mutation
from train import (
    SINGLE_PROCESS,
    DistributedContext,
    Settings,
    batches,
    distributed_context,
    example_of,
    gradients,
    label_smoothed_cross_entropy,
    learning_rate,
    linear_learning_rate,
    noam_learning_rate,
    train,
)
from translator import (
    Translator,
    code_key,
    code_only,
    exact_match,
    load_translator,
    new_translator,
    read_file,
    save_translator,
)

CHAPTER = "training"
PAIRS = [corpus.number_pair(n) for n in range(200)]
SIZES = {
    "d_model": 16,
    "nhead": 2,
    "num_encoder_layers": 1,
    "num_decoder_layers": 1,
    "dim_feedforward": 32,
    "dropout": 0.2,
    "norm_first": True,
}
SHORT = Settings(steps=24, batch_size=8, warmup_steps=4)
fork = multiprocessing.get_context("fork")


def small_translator(seed=0, **sizes) -> Translator:
    return new_translator(PAIRS, seed, **SIZES | sizes)


def silent(line: str) -> None:
    pass


def trained(settings=SHORT, show=silent, **options) -> Translator:
    translator = small_translator(settings.seed)
    train(translator, PAIRS, PAIRS[:9], settings, show=show, **options)
    return translator


def same_bits(one: Translator, other: Translator) -> bool:
    pairs = zip(one.model.state_dict().values(), other.model.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


# Label smoothing


@st.composite
def losses(draw):
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
    return logits, targets, draw(st.floats(0, 1)), ignored


@claim("training#loss")
@mutation(
    "train.py",
    "real = targets != ignore_index",
    "real = torch.ones_like(targets, dtype=torch.bool)",
    fault="the loss counts the pads",
)
@mutation(
    "train.py",
    "real = targets != ignore_index",
    "real = targets >= ignore_index",
    fault="padding counts in the loss",
)
@few
@given(given=losses())
def test_the_loss_and_its_gradient_equal_pytorchs(given):
    compare_loss(*given)


@claim("training#loss")
@mutation(
    "train.py",
    "smoothing * uniform).mean()",
    "smoothing * uniform).sum() / max(1, len(right))",
    fault="the loss of no token at all is 0",
)
def test_with_only_padding_the_loss_is_nan_as_in_pytorch():
    logits, targets = torch.randn(2, 3), torch.tensor([0, 0])
    assert label_smoothed_cross_entropy(logits, targets, 0.1, 0).isnan()
    assert F.cross_entropy(logits, targets, ignore_index=0, label_smoothing=0.1).isnan()


@claim("training#loss")
@mutation(
    "train.py",
    "return -((1 - smoothing) * right + smoothing * uniform).mean()",
    "return -(right + smoothing * uniform).mean()",
    fault="the correct token gets no share of the smoothing",
)
@few
@given(smoothing=st.floats(0.01, 0.99), vocab_size=st.integers(2, 50))
def test_the_minimum_loss_is_the_entropy_of_the_smoothed_target(smoothing, vocab_size):
    q = torch.full((vocab_size,), smoothing / vocab_size, dtype=torch.float64)
    q[1] += 1 - smoothing
    entropy = -(q * q.log()).sum()
    target = torch.tensor([1])
    torch.testing.assert_close(
        label_smoothed_cross_entropy(q.log()[None], target, smoothing, 0), entropy
    )
    for seed in range(3):
        torch.manual_seed(seed)
        other = q.log() + 0.3 * torch.randn(vocab_size)
        assert label_smoothed_cross_entropy(other[None], target, smoothing, 0) > entropy


@claim("training#loss")
@mutation(
    "train.py",
    "if logits.shape[:-1] != targets.shape:",
    "if logits.size(0) != targets.size(0):",
    fault="the loss compares only the first axis of logits and targets",
)
def test_mismatched_shapes_in_the_loss_are_rejected():
    with pytest.raises(ValueError, match=re.escape("got (2, 5) for (2, 3)")):
        label_smoothed_cross_entropy(torch.zeros(2, 5), torch.zeros(2, 3).long(), 0.1, 0)


@claim("training#loss")
@mutation(
    "train.py",
    "if not 0 <= smoothing <= 1:",
    "if smoothing < 0 or smoothing > 1:",
    fault="a smoothing of nan is accepted",
)
@pytest.mark.parametrize("smoothing", [-0.1, 1.1, float("nan")])
def test_a_smoothing_outside_0_to_1_is_rejected(smoothing):
    with pytest.raises(ValueError, match=re.escape("smoothing must lie in 0 .. 1")):
        label_smoothed_cross_entropy(torch.zeros(2, 5), torch.ones(2).long(), smoothing, 0)


# The learning rate

steps_of_the_rate = st.integers(1, 5000)


@claim("training#rate")
@mutation(
    "train.py",
    "min(step**-0.5, step * warmup_steps**-1.5)",
    "min(step**-1.0, step * warmup_steps**-1.5)",
    fault="the paper's learning rate decreases as the inverse of the step",
)
@few
@given(step=steps_of_the_rate, d_model=st.integers(1, 1024), warmup=steps_of_the_rate)
def test_the_papers_learning_rate_follows_its_equation(step, d_model, warmup):
    rise, fall = step / warmup**1.5, 1 / math.sqrt(step)
    expected = (rise if step < warmup else fall) / math.sqrt(d_model)
    assert noam_learning_rate(step, d_model, warmup) == pytest.approx(expected)


@claim("training#rate")
@mutation(
    "train.py",
    "step * warmup_steps**-1.5",
    "step * warmup_steps**-1.0",
    fault="the paper's learning rate rises too steeply and peaks before the warm-up ends",
)
def test_the_papers_learning_rate_peaks_at_the_end_of_the_warm_up():
    rates = [noam_learning_rate(step, 512, 4000) for step in range(1, 12000)]
    assert max(rates) == rates[3999] == pytest.approx((512 * 4000) ** -0.5)
    assert rates[:4000] == sorted(rates[:4000])
    assert rates[4000:] == sorted(rates[4000:], reverse=True)


@claim("training#rate")
@mutation(
    "train.py",
    "return d_model**-0.5 *",
    "return d_model**0.5 *",
    fault="the paper's learning rate grows with d_model",
)
def test_the_papers_learning_rate_is_higher_for_smaller_models_and_shorter_warm_ups():
    for smaller, larger in itertools.pairwise([64, 96, 512]):
        assert noam_learning_rate(100, smaller, 100) > noam_learning_rate(100, larger, 100)
    for shorter, longer in itertools.pairwise([50, 100, 4000]):
        assert noam_learning_rate(shorter, 64, shorter) > noam_learning_rate(longer, 64, longer)
    assert noam_learning_rate(4000, 512, 4000) < 1e-3
    assert noam_learning_rate(100, 64, 100) > 1e-2


@claim("training#rate")
@mutation(
    "train.py",
    "left = (steps + 1 - step) / (steps + 1 - warmup_steps)",
    "left = (steps - step) / (steps - warmup_steps)",
    fault="our learning rate reaches 0 before the last step",
)
@few
@given(data=st.data(), steps=st.integers(2, 500))
def test_our_learning_rate_rises_to_its_peak_and_decreases_linearly_to_nearly_0(data, steps):
    warmup = data.draw(st.integers(1, steps - 1))
    rates = [linear_learning_rate(s, 0.004, warmup, steps) for s in range(1, steps + 1)]
    assert max(rates) == rates[warmup - 1] == pytest.approx(0.004)
    rise = [b - a for a, b in itertools.pairwise([0.0, *rates[:warmup]])]
    fall = [b - a for a, b in itertools.pairwise([*rates[warmup - 1 :], 0.0])]
    assert rise == pytest.approx([0.004 / warmup] * warmup)
    assert fall == pytest.approx([-rates[-1]] * len(fall))


@claim("training#rate")
@mutation(
    "train.py",
    'if settings.schedule == "noam":',
    'if settings.schedule != "linear":',
    fault="an unknown schedule is taken for the paper's",
)
def test_the_settings_choose_the_learning_rate():
    ours = Settings(steps=100, warmup_steps=10, peak=0.1)
    assert learning_rate(10, ours, 64) == 0.1
    papers = replace(ours, schedule="noam")
    assert learning_rate(10, papers, 64) == noam_learning_rate(10, 64, 10)
    with pytest.raises(ValueError, match="schedule is linear or noam, got 'cosine'"):
        learning_rate(10, replace(ours, schedule="cosine"), 64)


@claim("training#rate")
@mutation(
    "train.py",
    "if min(step, d_model, warmup_steps) < 1:",
    "if min(step, d_model, warmup_steps) < 0:",
    fault="the paper's schedule has no error message for step 0",
)
@pytest.mark.parametrize("given", [(0, 64, 100), (1, 0, 100), (1, 64, 0)])
def test_the_papers_learning_rate_has_no_step_0(given):
    with pytest.raises(ValueError, match="must be at least 1"):
        noam_learning_rate(*given)


@claim("training#rate")
@mutation(
    "train.py",
    "not 1 <= warmup_steps < steps:",
    "not 1 <= warmup_steps <= steps:",
    fault="a warm-up as long as the whole training is accepted",
)
@pytest.mark.parametrize("step, warmup, steps", [(0, 5, 9), (10, 5, 9), (1, 0, 9), (1, 9, 9)])
def test_our_learning_rate_has_no_step_outside_the_training(step, warmup, steps):
    with pytest.raises(ValueError, match="warmup_steps below steps"):
        linear_learning_rate(step, 0.1, warmup, steps)


# Batches


def examples_of_lengths(seed: int, count: int):
    rng = random.Random(seed)
    for i in range(count):
        src = rng.randint(1, 20)
        tgt = src + rng.randint(2, 5)
        yield torch.full((src,), i), torch.full((tgt,), i)


def names(batch) -> list[int]:
    return [src[0].item() for src, _ in batch]


def some(batches, count: int) -> list[list[int]]:
    return [names(batch) for batch in itertools.islice(batches, count)]


@claim("training#batches")
@mutation(
    "train.py",
    "rng.sample(examples, per_epoch * batch_size)",
    "rng.choices(examples, k=per_epoch * batch_size)",
    fault="an epoch draws its examples with replacement",
)
@few
@given(seed=seeds, size=st.integers(1, 20), count=st.integers(20, 90))
def test_an_epoch_has_full_batches_and_no_example_twice(seed, size, count):
    examples = list(examples_of_lengths(seed, count))
    epoch = some(batches(examples, size, seed), count // size)
    assert {len(batch) for batch in epoch} == {size}
    assert len(set(itertools.chain(*epoch))) == len(epoch) * size


@claim("training#batches")
@mutation(
    "train.py",
    "epoch, start = divmod(start, per_epoch)",
    "epoch, start = 0, start % per_epoch",
    fault="batches from a later step are those of the first epoch",
)
@few
@given(seed=seeds, start=st.integers(0, 50))
def test_batches_from_a_given_step_equal_those_after_that_many_steps(seed, start):
    examples = list(examples_of_lengths(seed, 60))
    whole = some(batches(examples, 7, seed), start + 9)
    assert some(batches(examples, 7, seed, start), 9) == whole[start:]


@claim("training#batches")
@mutation(
    "train.py",
    'rng = random.Random(f"{seed} {epoch}")',
    'rng = random.Random(f"{seed}")',
    fault="every epoch has the same order",
)
def test_the_seed_and_the_epoch_determine_the_order():
    examples = list(examples_of_lengths(0, 60))
    one, again, other = (some(batches(examples, 10, seed), 12) for seed in (1, 1, 2))
    assert one == again
    assert one != other
    assert one[:6] != one[6:]  # another epoch
    shuffled = [sorted(itertools.chain(*half)) for half in (one[:6], one[6:])]
    assert shuffled[0] == shuffled[1] == list(range(60))


@claim("training#batches")
@mutation(
    "train.py",
    "stretch.sort(key=lambda example: [len(ids) for ids in example])",
    "stretch.sort(key=lambda example: 0)",
    fault="batches are not sorted by length",
)
def test_a_batch_contains_sentences_of_similar_length():
    examples = list(examples_of_lengths(0, 2000))

    def padding(order) -> float:
        """The fraction of the targets that is padding."""
        real = all_ = 0
        for batch in order:
            lengths = [len(tgt) for _, tgt in batch]
            real, all_ = real + sum(lengths), all_ + max(lengths) * len(batch)
        return 1 - real / all_

    sorted_ = padding(itertools.islice(batches(examples, 20, 0), 100))
    shuffled = padding(examples[i : i + 20] for i in range(0, 2000, 20))
    assert sorted_ < 0.1 < 0.3 < shuffled


@claim("training#batches")
@mutation(
    "train.py",
    "rng.shuffle(found)",
    "rng.random()",
    fault="the shortest batches come first",
)
def test_long_and_short_batches_come_in_random_order():
    examples = list(examples_of_lengths(0, 2000))
    lengths = [len(batch[0][0]) for batch in itertools.islice(batches(examples, 20, 0), 40)]
    assert lengths not in (sorted(lengths), sorted(lengths, reverse=True))


@claim("training#batches")
@mutation(
    "train.py",
    "if not 1 <= batch_size <= len(examples):",
    "if batch_size < 1:",
    fault="a batch larger than the data set has no error message",
)
@pytest.mark.parametrize("size", [0, -1, 6])
def test_a_batch_size_larger_than_the_data_set_is_rejected(size):
    examples = list(examples_of_lengths(0, 5))
    with pytest.raises(ValueError, match=re.escape("batch_size must lie in 1 .. 5")):
        next(batches(examples, size, 0))


# A step


@claim("training#loop")
@mutation(
    "train.py",
    "torch.tensor([BOS, *tgt, EOS])",
    "torch.tensor([BOS, *tgt])",
    fault="a target of the training has no <eos>",
)
def test_an_example_is_source_ids_and_target_ids_between_bos_and_eos():
    translator = small_translator()
    src, tgt = example_of(translator, PAIRS[42])
    assert translator.source.decode(src.tolist()) == ["forty", "two"]
    assert tgt.tolist() == [1, *translator.target.encode("四十二"), 2]


@claim("training#loop")
@mutation(
    "train.py",
    "inputs, targets = tgt[:, :-1], tgt[:, 1:]",
    "inputs, targets = tgt, tgt",
    fault="decoder input and target are not shifted",
)
@mutation(
    "train.py",
    "inputs, targets = tgt[:, :-1], tgt[:, 1:]",
    "inputs, targets = tgt[:, 1:], tgt[:, 1:]",
    fault="the model gets the token that it must predict",
)
def test_all_tokens_are_predicted_at_once_each_from_the_tokens_before_it():
    """The loss of one pass equals that of sentences read token by token."""
    translator = small_translator(dropout=0.0)
    model = translator.model
    pairs = [PAIRS[7], PAIRS[142], PAIRS[20]]
    examples = [example_of(translator, pair) for pair in pairs]
    total, count = 0.0, 0
    for src, tgt in examples:
        for i in range(1, len(tgt)):
            logits = model(src[None], tgt[None, :i])[0, -1]
            total += F.cross_entropy(logits, tgt[i], label_smoothing=0.1).item()
            count += 1
    loss, _ = gradients(model, examples, SHORT, SINGLE_PROCESS)
    assert loss == pytest.approx(total / count, rel=1e-5)


@claim("training#loop")
@mutation(
    "train.py",
    "    loss = label_smoothed_cross_entropy(\n"
    "        logits.float(), targets, settings.smoothing, PAD\n"
    "    )",
    "    loss = torch.stack([label_smoothed_cross_entropy(a.float(), b, settings.smoothing, "
    "PAD) for a, b in zip(logits, targets)]).mean()",
    fault="the loss is the mean of the sentences' means",
)
def test_every_token_counts_equally_in_any_sentence():
    """Sentences are not weighted equally: the gradients are those of all tokens together."""
    translator = small_translator(dropout=0.0)
    examples = [example_of(translator, PAIRS[n]) for n in (7, 142)]
    parts = []
    for example in examples:
        translator.model.zero_grad()
        gradients(translator.model, [example], SHORT, SINGLE_PROCESS)
        parts.append([p.grad for p in translator.model.parameters()])
    short, long = (len(tgt) - 1 for _, tgt in examples)
    translator.model.zero_grad()
    gradients(translator.model, examples, SHORT, SINGLE_PROCESS)
    for p, a, b in zip(translator.model.parameters(), *parts, strict=True):
        expected = (short * a + long * b) / (short + long)
        torch.testing.assert_close(p.grad, expected, rtol=1e-4, atol=1e-6)


@claim("training#loop")
@mutation(
    "train.py",
    "torch.bfloat16, settings.bfloat16)",
    "torch.bfloat16, False)",
    fault="training ignores the setting bfloat16",
)
def test_in_bfloat16_the_loss_is_nearly_the_same_and_the_weights_stay_float32():
    translator = small_translator(dropout=0.0)
    examples = [example_of(translator, pair) for pair in PAIRS[:20]]
    one, _ = gradients(translator.model, examples, SHORT, SINGLE_PROCESS)
    half = replace(SHORT, bfloat16=True)
    other, _ = gradients(translator.model, examples, half, SINGLE_PROCESS)
    assert one != other and one == pytest.approx(other, rel=0.02)
    kept = {p.dtype for p in translator.model.parameters()}
    assert kept == {p.grad.dtype for p in translator.model.parameters()} == {torch.float32}


# Learning


@claim("training#loop")
@mutation(
    "train.py",
    "            self.optimizer.step()",
    "            pass",
    fault="the optimizer takes no step",
)
def test_it_learns():
    translator = new_translator(PAIRS, 0, **SIZES | {"d_model": 32, "dropout": 0.0})
    assert exact_match(translator, PAIRS)["all"] == 0
    settings = Settings(steps=240, batch_size=32, peak=1e-2, warmup_steps=20)
    curve = train(translator, PAIRS, PAIRS[100:], settings, show=silent)
    assert curve[-1]["loss"] < curve[0]["loss"] / 2
    assert exact_match(translator, PAIRS)["all"] > 0.9
    assert not translator.model.training


@claim("training#loop")
@mutation(
    "train.py",
    "return learning_rate(self.step, self.settings, d_model)",
    "return learning_rate(1 + self.step // 10, self.settings, d_model)",
    fault="the learning rate changes only at every tenth step",
)
def test_the_curve_has_20_points_with_learning_rate_exact_match_and_seconds():
    translator, lines = small_translator(), []
    curve = train(translator, PAIRS, PAIRS[:9], replace(SHORT, steps=40), show=lines.append)
    assert [point["step"] for point in curve] == list(range(2, 41, 2))
    for point in curve:
        expected = linear_learning_rate(int(point["step"]), 4e-3, 4, 40)
        assert point["rate"] == expected
        assert 0 <= point["match"] <= 1
    seconds = [point["seconds"] for point in curve]
    assert seconds == sorted(seconds) and seconds[0] > 0
    expected = r"step 40/40  loss \d\.\d+  rate 0\.0001\d  held-out 0\.0%  CPU \d+ s "
    assert re.fullmatch(expected, lines[-1])


@claim("training#loop")
@mutation(
    "train.py",
    "run.step % math.ceil(settings.steps / 20) == 0",
    "run.step % (settings.steps // 20) == 0",
    fault="the points of a curve are not limited to 20",
)
@pytest.mark.parametrize(("steps", "points"), [(5, 5), (21, 11), (30, 15), (40, 20)])
def test_a_curve_has_at_most_20_points(steps, points):
    settings = replace(SHORT, steps=steps)
    curve = train(small_translator(), PAIRS, PAIRS[:1], settings, show=silent)
    assert len(curve) == points
    assert curve[-1]["step"] == steps


@claim("training#loop")
@mutation(
    "translator.py",
    "append(target == pair.target)",
    "append(target[:1] == pair.target[:1])",
    fault="a translation counts as correct if its beginning is correct",
)
def test_exact_match_counts_correct_translations_by_kind():
    pairs = [
        Pair(["a"], ["甲"], "one"),
        Pair(["b"], ["乙"], "one"),
        Pair(["c"], ["丙", "丁"], "two"),
    ]

    class Parrot:
        """Correct except for b, which it continues after the correct beginning."""

        def translate(self, sentences, max_len):
            answers = {"a": ["甲"], "b": ["乙", "乙"], "c": ["丙", "丁"]}
            return [answers[words[0]][:max_len] for words in sentences]

    shares = exact_match(Parrot(), pairs)
    assert shares == {"all": 2 / 3, "one": 1 / 2, "two": 1}


# Reproducibility


@claim("training#determinism")
@mutation(
    "train.py",
    "random.Random(name)",
    "random.Random()",
    fault="dropout's seed is drawn from the operating system's random numbers",
)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_seed_gives_bitwise_equal_weights(seed):
    settings = replace(SHORT, seed=seed)
    one = trained(settings)
    torch.manual_seed(99)  # any random state
    random.seed(99)
    assert same_bits(one, trained(settings))


@claim("training#determinism")
@mutation(
    "translator.py",
    "torch.manual_seed(seed)",
    "torch.manual_seed(0)",
    fault="every seed gives the same initial weights",
)
def test_a_different_seed_gives_different_weights():
    assert not same_bits(small_translator(0), small_translator(1))  # before the training
    assert not same_bits(trained(), trained(replace(SHORT, seed=1)))
    one, other = small_translator(0, dropout=0.0), small_translator(0, dropout=0.0)
    train(one, PAIRS, PAIRS[:9], SHORT, show=silent)
    train(other, PAIRS, PAIRS[:9], replace(SHORT, seed=1), show=silent)
    assert not same_bits(one, other)  # other batches


@claim("training#determinism")
@mutation(
    "train.py",
    'f"{settings.seed} {self.step} {group.rank}"',
    'f"{settings.seed} {self.step}"',
    fault="all processes draw the same dropout",
)
def test_dropout_differs_at_each_step_and_in_each_process(monkeypatch):
    drawn = []
    monkeypatch.setattr(torch, "manual_seed", drawn.append)
    for rank in 0, 1:
        run = training.Run(small_translator(), PAIRS, SHORT, DistributedContext(rank))
        list(run.steps(training.Event()))
    assert len(set(drawn[2:])) == 2 * SHORT.steps


# Ctrl-C, and resuming


def interrupt_at(step: int):
    """A `show` function that raises Ctrl-C at this step."""

    def show(line: str) -> None:
        if line.startswith(f"step {step}/"):
            os.kill(os.getpid(), signal.SIGINT)

    return show


@claim("training#checkpoints")
@mutation(
    "train.py",
    "yield from found[start:]",
    "yield from found",
    fault="a resumed training restarts its epoch",
)
@mutation(
    "train.py",
    "torch.manual_seed(random.Random(name).getrandbits(32))",
    "random.Random(name).getrandbits(32)",
    fault="dropout continues from an arbitrary random state",
)
@pytest.mark.parametrize("step", [2, 8, 22])
def test_training_resumed_after_ctrl_c_reaches_exactly_the_same_weights(step, tmp_path):
    whole = trained()
    path = tmp_path / "checkpoint"
    with pytest.raises(KeyboardInterrupt):
        trained(show=interrupt_at(step), checkpoint=path)
    torch.manual_seed(99)
    assert same_bits(whole, trained(checkpoint=path, resume=True))


@claim("training#checkpoints")
@mutation(
    "train.py",
    "lambda *_: asked.set()",
    "signal.default_int_handler",
    fault="Ctrl-C interrupts a step",
)
@mutation(
    "train.py",
    "signal.signal(signal.SIGINT, before)",
    "pass",
    fault="the handler of Ctrl-C stays after the training",
)
def test_ctrl_c_waits_for_the_end_of_the_step_and_its_handler_is_restored(tmp_path):
    before, path = signal.getsignal(signal.SIGINT), tmp_path / "checkpoint"
    with pytest.raises(KeyboardInterrupt):
        trained(show=interrupt_at(10), checkpoint=path)
    assert signal.getsignal(signal.SIGINT) is before
    assert torch_state(path)["step"] == 11


def torch_state(path: Path) -> dict:
    return torch.load(io.BytesIO(path.read_bytes()[32:]), weights_only=True)


@claim("training#checkpoints")
@mutation(
    "train.py",
    'self.curve, self.losses = state["curve"], state["losses"]',
    'self.curve, self.losses = [], state["losses"]',
    fault="a resumed training begins a new curve",
)
def test_a_resumed_curve_continues_where_it_stopped(tmp_path):
    path, shown = tmp_path / "checkpoint", []
    with pytest.raises(KeyboardInterrupt):
        trained(show=interrupt_at(10), checkpoint=path)
    translator = small_translator()
    curve = train(
        translator, PAIRS, PAIRS[:9], SHORT, checkpoint=path, resume=True, show=shown.append
    )
    assert [point["step"] for point in curve] == list(range(2, 25, 2))
    seconds = [point["seconds"] for point in curve]
    assert seconds == sorted(seconds)
    assert shown[0].startswith("step 12/24")


@claim("training#checkpoints")
@mutation(
    "train.py",
    'self.curve, self.losses = state["curve"], state["losses"]',
    'self.curve, self.losses = state["curve"], []',
    fault="a resumed training forgets the losses since the last point",
)
def test_a_resumed_curve_has_the_same_losses_as_an_uninterrupted_one(tmp_path):
    settings = replace(SHORT, steps=60)  # a point every three steps
    path = tmp_path / "checkpoint"
    with pytest.raises(KeyboardInterrupt):
        train(small_translator(), PAIRS, PAIRS[:9], settings, path, show=interrupt_at(10))
    curve = train(
        small_translator(), PAIRS, PAIRS[:9], settings, path, resume=True, show=lambda line: None
    )
    expected = train(small_translator(), PAIRS, PAIRS[:9], settings, show=lambda line: None)
    assert [point["loss"] for point in curve] == [point["loss"] for point in expected]


@claim("training#checkpoints")
@mutation(
    "checkpoints.py",
    'weights_only=True, map_location="cpu"',
    "weights_only=True",
    fault="a checkpoint is loaded to the device on which it was saved",
)
def test_a_checkpoint_is_loaded_to_the_cpu_wherever_it_was_saved(tmp_path, monkeypatch):
    path, places = tmp_path / "checkpoint", []
    load = torch.load
    monkeypatch.setattr(
        torch, "load", lambda *args, **options: places.append(options) or load(*args, **options)
    )
    save_checkpoint(path, {"about": {}, "step": 1})
    assert load_checkpoint(path, {})["step"] == 1
    assert places == [{"weights_only": True, "map_location": "cpu"}]


@claim("training#checkpoints")
@mutation(
    "train.py",
    'self.step, self.seconds = state["step"], state',
    'self.step, self.seconds = state["step"] - 1, state',
    fault="a resumed training repeats the last step before the checkpoint",
)
def test_a_complete_training_is_not_changed(tmp_path):
    path = tmp_path / "checkpoint"
    whole = trained(checkpoint=path)
    assert same_bits(whole, trained(checkpoint=path, resume=True))


def in_a_child(task) -> int:
    """The exit status of another process that runs this function."""
    child = fork.Process(target=task)
    child.start()
    child.join(60)
    return child.exitcode


@claim("training#checkpoints")
@mutation(
    "train.py",
    'self.optimizer.load_state_dict(state["optimizer"])',
    'len(state["optimizer"])',
    fault="the optimizer's state is not restored",
)
@pytest.mark.parametrize("step", [6, 16])
def test_a_killed_training_resumes_to_exactly_the_same_weights(step, tmp_path):
    path = tmp_path / "checkpoint"

    def killed() -> None:
        def show(line: str) -> None:
            if line.startswith(f"step {step}/"):
                os.kill(os.getpid(), signal.SIGKILL)

        trained(show=show, checkpoint=path)

    assert in_a_child(killed) == -signal.SIGKILL
    assert torch_state(path)["step"] == step - 2  # the last that was saved
    assert same_bits(trained(), trained(checkpoint=path, resume=True))


# Files


@claim("training#checkpoints")
@mutation(
    "checkpoints.py",
    'part = path.with_name(f"{path.name}.part")',
    "part = path",
    fault="a checkpoint overwrites the last good one in place",
)
@pytest.mark.parametrize("name", ["write", "fsync", "replace"])
def test_a_crash_while_saving_keeps_the_last_good_file(name, tmp_path):
    path = tmp_path / "checkpoint"
    save_checkpoint(path, {"about": {}, "step": 1})

    class Crashing:
        """A file whose writer crashes after the first half."""

        def __init__(self, path, mode):
            self.file = open(path, mode)  # noqa: SIM115

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def write(self, data):
            self.file.write(data[: len(data) // 2])
            self.file.flush()
            os._exit(9)

    def crash() -> None:
        if name == "write":
            checkpoints.open = Crashing
        else:
            setattr(checkpoints.os, name, lambda *_: os._exit(9))
        save_checkpoint(path, {"about": {}, "step": 2})

    assert in_a_child(crash) == 9
    assert load_checkpoint(path, {})["step"] == 1
    save_checkpoint(path, {"about": {}, "step": 3})  # and saving works again
    assert load_checkpoint(path, {})["step"] == 3
    assert [each.name for each in tmp_path.iterdir()] == ["checkpoint"]


@claim("training#checkpoints")
@mutation(
    "checkpoints.py",
    "os.fsync(file.fileno())  # on the disk before it gets its name",
    "pass",
    fault="a file is renamed before it is flushed to disk",
)
def test_a_file_is_flushed_to_disk_before_it_is_renamed(tmp_path, monkeypatch):
    path, done = tmp_path / "file", []
    fsync, replace_ = os.fsync, os.replace

    def synced(number):
        done.append((tmp_path / "file.part").read_bytes())
        fsync(number)

    def replaced(*names):
        done.append("replaced")
        replace_(*names)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    write_whole(path, b"whole")
    assert done == [b"whole", "replaced"]
    assert path.read_bytes() == b"whole"


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    """The checkpoint of a training that was interrupted."""
    path = tmp_path_factory.mktemp("saved") / "checkpoint"
    with pytest.raises(KeyboardInterrupt):
        trained(show=interrupt_at(10), checkpoint=path)
    return path


@claim("training#checkpoints")
@mutation(
    "checkpoints.py",
    "if hashlib.sha256(data[32:]).digest() != data[:32]:",
    "if len(data) < 32:",
    fault="a damaged checkpoint is accepted",
)
@few
@given(data=st.data())
def test_a_checkpoint_with_one_wrong_bit_is_rejected(saved, tmp_path_factory, data):
    whole = bytearray(saved.read_bytes())
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= 1 << data.draw(st.integers(0, 7))
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(whole)
    with pytest.raises(ValueError, match="is damaged: begin anew, without --resume"):
        trained(checkpoint=path, resume=True)


@claim("training#checkpoints")
@mutation(
    "checkpoints.py",
    "if hashlib.sha256(data[32:]).digest() != data[:32]:",
    "if not data:",
    fault="only an empty checkpoint counts as damaged",
)
@few
@given(data=st.data())
def test_a_truncated_checkpoint_is_rejected(saved, tmp_path_factory, data):
    whole = saved.read_bytes()
    path = tmp_path_factory.getbasetemp() / "short"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(ValueError, match="is damaged"):
        trained(checkpoint=path, resume=True)


@claim("training#checkpoints")
@mutation(
    "train.py",
    "self.about = asdict(settings) | asdict(self.model.config)",
    "self.about = asdict(self.model.config)",
    fault="a checkpoint does not record its settings",
)
@pytest.mark.parametrize(
    "change, message",
    [
        ({"seed": 5}, "seed is 0 there and 5 here"),
        ({"steps": 30, "peak": 0.1}, "steps is 24 there and 30 here, peak is 0.004 there"),
    ],
)
def test_a_checkpoint_of_other_settings_is_rejected(saved, change, message):
    with pytest.raises(ValueError, match=f"is of another run: {re.escape(message)}"):
        trained(replace(SHORT, **change), checkpoint=saved, resume=True)


@claim("training#checkpoints")
@mutation(
    "train.py",
    "self.about = asdict(settings) | asdict(self.model.config)",
    "self.about = asdict(settings)",
    fault="a checkpoint does not record the model's configuration",
)
def test_a_checkpoint_of_another_model_is_rejected(saved):
    translator = small_translator(d_model=32)
    with pytest.raises(ValueError, match="d_model is 16 there and 32 here"):
        train(translator, PAIRS, [], SHORT, saved, resume=True, show=silent)


@claim("training#checkpoints")
@mutation(
    "train.py",
    'self.about |= {"data": data, "processes": group.count}',
    'self.about |= {"processes": group.count}',
    fault="a checkpoint of other data is accepted",
)
def test_a_checkpoint_of_other_data_is_rejected(saved):
    swapped = [PAIRS[1], PAIRS[0], *PAIRS[2:]]
    with pytest.raises(ValueError, match="another run: data is "):
        train(small_translator(), swapped, [], SHORT, saved, resume=True, show=silent)


@claim("training#checkpoints")
@mutation(
    "checkpoints.py",
    "if not path.exists():",
    "if False:",
    fault="a missing checkpoint has no error message of its own",
)
def test_without_a_checkpoint_there_is_nothing_to_resume(tmp_path):
    with pytest.raises(ValueError, match="begin without --resume"):
        trained(checkpoint=tmp_path / "nonesuch", resume=True)


# The translator's file


@claim("training#translator")
@mutation(
    "translator.py",
    "return Translator(model.eval(), source, target)",
    "return Translator(model, source, target)",
    fault="a loaded translator is in training mode",
)
def test_a_saved_and_loaded_translator_is_the_same(tmp_path):
    one, path = trained(), tmp_path / "translator.safetensors"
    save_translator(one, path, seed=0)
    other = load_translator(path)
    assert same_bits(one, other) and other.model.config == one.model.config
    assert other.source.tokens == one.source.tokens
    assert other.target.tokens == one.target.tokens
    assert not other.model.training
    sentences = [pair.source for pair in PAIRS[:50]]
    assert other.translate(sentences) == one.translate(sentences)


@claim("training#translator")
@mutation(
    "translator.py",
    '"seed": seed,',
    '"seed": seed,\n        "path": str(path),',
    fault="a translator's file contains its own path",
)
def test_the_same_translator_gives_the_same_bytes(tmp_path):
    for name in "one", "other":
        save_translator(trained(), tmp_path / name, seed=0)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


@claim("training#translator")
@mutation(
    "translator.py",
    "except (OSError, SafetensorError, KeyError) as error:",
    "except (OSError, KeyError) as error:",
    fault="a truncated translator file raises the error of safetensors",
)
@pytest.mark.parametrize("kept", [0, 7, 900, -1])
def test_an_incomplete_translator_file_is_rejected(kept, tmp_path):
    path = tmp_path / "translator.safetensors"
    save_translator(small_translator(), path, seed=0)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match="is not a whole file of save_translator"):
        load_translator(path)


@claim("training#translator")
@mutation(
    "translator.py",
    "except (OSError, SafetensorError, KeyError) as error:",
    "except (SafetensorError, KeyError) as error:",
    fault="a missing translator file raises the error of the operating system",
)
def test_a_missing_file_is_rejected(tmp_path):
    with pytest.raises(ValueError, match=r"python train\.py translator makes one"):
        load_translator(tmp_path / "nonesuch")


@claim("training#translator")
@mutation(
    "translator.py",
    'code_only(Path(path).read_text(encoding="utf-8"))',
    'Path(path).read_text(encoding="utf-8")',
    fault="the key covers comments and layout",
)
def test_the_key_depends_on_the_code_and_not_on_its_comments(tmp_path, monkeypatch):
    for name in translators.MADE_BY:  # as a reader downloads them
        (tmp_path / name).write_text(without_section_markers(SNIPPETS / name), encoding="utf-8")
    key = code_key()
    monkeypatch.setattr(translators, "__file__", str(tmp_path / "translator.py"))
    assert code_key() == key
    for name in translators.MADE_BY:
        path = tmp_path / name
        text = path.read_text(encoding="utf-8")
        path.write_text(f"# One more comment.\n{text}", encoding="utf-8")
        assert code_key() == key
        path.write_text(f"{text}CHANGED = 1\n", encoding="utf-8")
        changed = code_key()
        path.write_text(f"{text}CHANGED = 2\n", encoding="utf-8")
        assert len({key, changed, code_key()}) == 3
        path.write_text(text, encoding="utf-8")


@claim("training#translator")
@mutation(
    "translator.py",
    "        if isinstance(node, kinds) and ast.get_docstring(node) is not None:\n"
    "            del node.body[0]\n"
    "        elif",
    "        if",
    fault="the key covers docstrings",
)
@mutation(
    "translator.py",
    "        return repr(node)\n",
    '        return "" if isinstance(node, int) else repr(node)\n',
    fault="the key doesn't cover numbers",
)
def test_a_comment_keeps_the_key_of_code_and_a_number_changes_it():
    code = 'class A:\n    n = 1\n\n\ndef f(x=0):\n    return f"{x + 1:>{x}}"\n'
    words = (
        '"""A module."""\n\nclass A:\n    """A class."""\n\n    n = 1  # one\n'
        'def f(\n    x=0,\n):\n    """Writes it."""\n\n    # So.\n    return f"{x + 1:>{x}}"\n'
    )
    assert code_only(words) == code_only(code)
    for old, new in ("= 1", "= 2"), ("x=0", "x=3"), ("+ 1", "+ 4"), ("+", "-"), ("n =", "m ="):
        assert code_only(code.replace(old, new, 1)) != code_only(code)


@claim("training#translator")
@mutation(
    "translator.py",
    '    "checkpoints.py",\n',
    "",
    fault="the key does not cover checkpoints.py",
)
def test_the_key_covers_every_file_that_training_imports():
    found, todo = set(), ["train.py"]
    while todo:
        name = todo.pop()
        found.add(name)
        tree = ast.parse((SNIPPETS / name).read_bytes())
        for node in ast.walk(tree):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module]
            for module in modules:
                if (SNIPPETS / f"{module}.py").exists() and f"{module}.py" not in found:
                    todo.append(f"{module}.py")
    assert found - set(translators.MADE_BY) == {"decode.py"}  # it only measures
    assert set(translators.MADE_BY) <= found


# Trained and measured results


MEASURED = ROOT / "snippets" / "results" / "training.json"


@pytest.fixture(scope="module")
def measured() -> dict:
    return json.loads(MEASURED.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def published() -> Path:
    return ROOT / "snippets" / "translator.safetensors"


@claim("training#curve", kind="measurement")
def test_the_published_translator_is_of_the_current_code(published):
    about, _ = read_file(published)
    assert about["key"] == code_key(), "translator.safetensors is stale; run scripts/train"
    assert about["seed"] == 0


@claim("training#curve", kind="measurement")
def test_the_published_figures_are_of_the_current_code(measured):
    made = runpy.run_path(str(ROOT / "scripts" / "experiments" / "training.py"))
    assert measured["key"] == made["key"](), "results/training.json is stale; run scripts/train"
    runs = [(run["task"], run["seed"]) for run in measured["runs"]]
    assert runs == list(itertools.product(["numerals", "translator"], [0, 1, 2]))


@claim("training#curve", kind="measurement")
def test_the_published_translator_is_as_accurate_as_its_figures(published, measured):
    expected = next(run["match"] for run in measured["runs"] if run["task"] == "translator")
    found = exact_match(load_translator(published), corpus.translator("test"))
    assert found == pytest.approx(expected, abs=0.012)  # one sentence in a kind
    assert found["all"] == pytest.approx(expected["all"], abs=0.002)


@claim("training#curve", kind="measurement")
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    "task, seconds, worst", [("numerals", 90, 0.95), ("translator", 360, 0.95)]
)
def test_it_learns_in_minutes_for_each_of_three_seeds(task, seconds, worst, seed, measured):
    (run,) = (run for run in measured["runs"] if (run["task"], run["seed"]) == (task, seed))
    assert run["seconds"] <= seconds
    assert run["match"]["all"] >= 0.99
    assert min(run["match"].values()) >= worst


# The command


@pytest.fixture
def command(monkeypatch, tmp_path, capsys):
    """Run train.py with these arguments on a tiny task."""
    parts = {"train": PAIRS, "validation": PAIRS[:9], "test": PAIRS[50:60]}
    task = training.Task(parts.__getitem__, SIZES, SHORT)
    monkeypatch.setitem(training.TASKS, "numerals", task)

    def run(*arguments: str) -> str:
        given = ["train.py", "numerals", "--out", str(tmp_path), *arguments]
        monkeypatch.setattr(sys, "argv", given)
        training.main()
        return capsys.readouterr().out

    return run


@claim("training#loop")
@mutation(
    "train.py",
    "    checkpoint.unlink()\n",
    "",
    fault="a finished training leaves its checkpoint behind",
)
def test_the_command_writes_a_translator_and_reports_its_accuracy(command, tmp_path):
    out = command("--seed", "3")
    assert [path.name for path in tmp_path.iterdir()] == ["numerals.safetensors"]
    about, _ = read_file(tmp_path / "numerals.safetensors")
    assert about["seed"] == 3 and about["key"] == code_key()
    assert out.endswith("\n   0.00%  all\n   0.00%  2 digits\n")


@claim("training#loop")
@mutation(
    "train.py",
    'self.model.load_state_dict(state["model"])',
    'len(state["model"])',
    fault="a resumed training does not restore the weights",
)
def test_the_command_resumed_after_ctrl_c_writes_exactly_the_same_file(
    command, tmp_path, monkeypatch
):
    command()
    path = tmp_path / "numerals.safetensors"
    whole = path.read_bytes()
    path.unlink()
    with monkeypatch.context() as patch:
        patch.setattr(training, "train", partial(train, show=interrupt_at(10)))
        with pytest.raises(SystemExit, match="go on with --resume"):
            command()
    assert not path.exists()
    command("--resume")
    assert path.read_bytes() == whole


@claim("training#loop")
@mutation(
    "train.py",
    'sys.exit(f"train.py: {error}")',
    "raise",
    fault="the command prints a traceback for an error",
)
def test_the_command_reports_an_error_in_one_line(command, tmp_path):
    with pytest.raises(SystemExit, match=r"train\.py: there is no .*: begin without --resume"):
        command("--resume")


# More than one process


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def in_two_processes(task, folder: Path) -> list:
    """The result of a task in each of two processes, connected as by torchrun."""
    port = free_port()

    def work(rank: int) -> None:
        os.environ |= {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": "2",
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
            "GLOO_SOCKET_IFNAME": "lo",
        }
        torch.set_num_threads(1)
        with distributed_context() as group:
            torch.save(task(group), folder / f"{rank}.pt")

    children = [fork.Process(target=work, args=(rank,)) for rank in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
        child.kill()
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)]


UNEVEN = [pair for n in range(7, 19) for pair in (PAIRS[n % 10], PAIRS[100 + n])]


def loss_and_gradients(group: DistributedContext):
    translator = small_translator(dropout=0.0)
    examples = [example_of(translator, pair) for pair in UNEVEN]
    model = DistributedDataParallel(translator.model) if group.count > 1 else translator.model
    loss, _ = gradients(model, examples, SHORT, group)
    return loss, [p.grad for p in translator.model.parameters()]


@pytest.fixture(scope="module")
def two(tmp_path_factory) -> list:
    return in_two_processes(loss_and_gradients, tmp_path_factory.mktemp("two"))


@claim("training#processes")
@mutation(
    "train.py",
    "        dist.all_reduce(sums)",
    "        pass",
    fault="each process reports the loss of its own sentences",
)
def test_the_loss_of_two_processes_equals_that_of_one(two):
    expected, _ = loss_and_gradients(SINGLE_PROCESS)
    for loss, _ in two:
        assert loss == pytest.approx(expected, abs=1e-6)


@claim("training#processes")
@mutation(
    "train.py",
    "(loss * (group.count * tokens / total_tokens)).backward()",
    "loss.backward()",
    fault="the loss is the mean of the processes' means",
)
def test_the_gradients_of_two_processes_equal_those_of_one(two):
    _, expected = loss_and_gradients(SINGLE_PROCESS)
    for _, found in two:
        for a, b in zip(found, expected, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


@claim("training#processes")
@mutation(
    "train.py",
    "smoothing * uniform).mean()",
    "smoothing * uniform).sum() / len(targets)",
    fault="the loss is divided by the number of sentences, not of tokens",
)
def test_the_mean_of_the_means_of_two_processes_is_a_different_loss():
    """One half has the short numbers, so its tokens would have a larger weight."""
    expected, gradient = loss_and_gradients(SINGLE_PROCESS)
    translator = small_translator(dropout=0.0)
    examples = [example_of(translator, pair) for pair in UNEVEN]
    means = [
        gradients(translator.model, examples[half::2], SHORT, SINGLE_PROCESS)[0] for half in (0, 1)
    ]
    assert abs(sum(means) / 2 - expected) > 1e-3
    naive = [p.grad / 2 for p in translator.model.parameters()]
    worst = max((a - b).abs().max() for a, b in zip(naive, gradient, strict=True))
    assert worst > 1e-2


@claim("training#processes")
@mutation(
    "train.py",
    "return total_loss / total_tokens, stops > 0",
    "return total_loss / total_tokens, stop",
    fault="a stopped process does not stop the others",
)
def test_stopping_one_process_stops_both(tmp_path):
    def stops(group: DistributedContext):
        translator = small_translator()
        examples = [example_of(translator, pair) for pair in UNEVEN]
        model = DistributedDataParallel(translator.model)
        return [
            gradients(model, examples, SHORT, group, group.rank == 1 and i == 1)[1]
            for i in range(2)
        ]

    assert in_two_processes(stops, tmp_path) == [[False, True]] * 2


@claim("training#processes")
@mutation(
    "train.py",
    "            model = DistributedDataParallel(model)",
    "            pass",
    fault="the gradients of the processes are not averaged",
)
def test_two_processes_train_to_the_same_loss_as_one(tmp_path):
    def losses(group: DistributedContext):
        translator = small_translator(dropout=0.0)
        curve = train(translator, PAIRS, PAIRS[:9], SHORT, group=group, show=silent)
        return [point["loss"] for point in curve]

    first, second = in_two_processes(losses, tmp_path)
    assert first == pytest.approx(losses(SINGLE_PROCESS), abs=1e-4)
    assert second == []  # only the first one measures


@claim("training#processes")
@mutation(
    "train.py",
    "if settings.batch_size < group.count:",
    "if settings.batch_size < 1:",
    fault="more processes than sentences in a batch are accepted",
)
def test_a_batch_smaller_than_the_number_of_processes_is_rejected():
    with pytest.raises(ValueError, match="9 processes cannot share a batch_size of 8"):
        training.Run(small_translator(), PAIRS, SHORT, DistributedContext(0, 9))
