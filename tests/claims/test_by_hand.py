"""The claims of the page that computes a translation by hand."""

import json
import math
import runpy
from collections.abc import Callable
from typing import Any

import pytest
import torch

import by_hand
import pencil
from decode import eval_mode
from helpers import ROOT, SNIPPETS
from marks import claim, mutation
from transformer import LayerNorm, MultiHeadAttention
from translator import BOS, PAD, code_key

CHAPTER = "by-hand"
STORED = json.loads((SNIPPETS / "pencil.json").read_text(encoding="utf-8"))
PAIRS = pencil.sentences()
NAMES = [" ".join(pair.source) for pair in PAIRS]
LOWEST = 0.99  # the probability of a correct token
LOOK = 0.5  # the weight of the word at which head 0 is to look
WORDS = {
    "我们": "we", "他们": "they", "工作": "work", "休息": "rest",
    "为什么": "why", "吗": "do", "？": "?",
}  # fmt: skip

# The model, in plain Python and in PyTorch


def in_torch(source: list[str], target: list[str]) -> dict[str, torch.Tensor]:
    """The tables of the model in float64, by the names of by_hand.py."""
    translator = pencil.load_pencil()
    model, tables = translator.model.double(), {}
    p = torch.arange(64, dtype=torch.float64)
    exact = torch.stack([p.sin(), p.cos(), (p / 100).sin(), (p / 100).cos()], dim=1)
    assert (model.position.table - exact).abs().max() < 1e-7  # the model rounds it to float32
    model.position.table = exact

    def record(name: str) -> Callable[..., None]:
        def hook(module, inputs, output):
            if isinstance(module, MultiHeadAttention):
                for head, weights in enumerate(output[1][0]):
                    tables[f"{name}.weights.{head}"] = weights
            elif isinstance(module, LayerNorm):
                x = inputs[0][0]
                tables[f"{name}.sum"] = x
                tables[f"{name}.mean"] = x.mean(dim=-1, keepdim=True)
                tables[f"{name}.centered"] = x - tables[f"{name}.mean"]
                variance = x.var(dim=-1, keepdim=True, correction=0)
                tables[f"{name}.deviation"] = (variance + module.eps).sqrt()
                tables[name] = output[0]
            elif name.endswith("attention.output"):
                tables[name.replace("output", "heads")] = inputs[0][0]
                tables[name] = output[0]
            elif name.endswith("linear2"):
                tables[name.replace("linear2", "relu")] = inputs[0][0]
                tables[name] = output[0]
            elif name == "position":
                side = "tgt" if "src.sum" in tables else "src"
                tables[f"{side}.embedding"], tables[f"{side}.sum"] = inputs[0][0], output[0]
                tables[f"{side}.position"] = module.table[: output.size(1)]
            elif isinstance(module, torch.nn.Linear):
                tables["logits" if name == "output" else name] = output[0]

        return hook

    for name, module in model.named_modules():
        module.register_forward_hook(record(name))
    src = torch.tensor([translator.source.encode(source)])
    tgt = torch.tensor([[BOS, *translator.target.encode(target)]])
    with eval_mode(model), pencil.recorded_weights(model):
        tables["probabilities"] = model(src, tgt)[0].softmax(dim=-1)
    for name in [name for name in tables if name.endswith("attention.query")]:
        attention = name.removesuffix(".query")
        query, key = tables[name], tables[f"{attention}.key"]
        for head, part in enumerate((slice(0, 2), slice(2, 4))):
            scores = query[:, part] @ key[:, part].mT / math.sqrt(2)
            tables[f"{attention}.scores.{head}"] = scores
    return tables


@claim("by-hand#encoder-attention")
@mutation(
    "transformer.py",
    "scores = scores / math.sqrt(query.size(-1))",
    "scores = scores / query.size(-1)",
    fault="the scores are divided by d_k and not by its root",
)
@pytest.mark.parametrize("pair", PAIRS, ids=NAMES)
def test_plain_python_computes_every_table_of_the_model(pair):
    hand = by_hand.load()
    assert hand.translate(pair.source) == pair.target
    expected = in_torch(pair.source, pair.target)
    assert {table.name for table in hand.tables} == {*expected}
    for name, rows, _, values in hand.tables:
        found = torch.tensor(values, dtype=torch.float64)
        shown = found.isfinite()  # a mask hides the other scores
        assert shown.sum() == found.numel() or "decoder.layers.0.self_attention.scores" in name
        assert len(rows) == len(expected[name])
        assert (found - expected[name])[shown].abs().max() < 1e-6, name


@claim("by-hand#next-word")
def test_plain_python_translates_all_sentences_also_with_two_decimals():
    hand = by_hand.load(2)
    for pair in PAIRS:
        assert hand.translate(pair.source) == pair.target
        assert min(max(row) for row in hand.tables[-1].values) >= LOWEST


@claim("by-hand#model")
def test_the_model_has_472_parameters_all_whole_numbers_from_minus_4_to_4(printed):
    model = pencil.load_pencil().model
    numbers = torch.cat([weight.flatten() for weight in model.parameters()])
    assert len(numbers) == 472
    assert set(numbers.tolist()) <= {*range(-4, 5)}
    assert int(printed("examples", "weights")["zeros"]) == int((numbers == 0).sum())


@claim("by-hand#model")
@mutation("pencil.py", '"S 为什么 V ？"', '"为什么 S V ？"', fault="why comes first in Chinese")
def test_there_are_12_sentences_in_three_forms():
    assert len(PAIRS) == len({*NAMES}) == 12
    pairs = {name: " ".join(pair.target) for name, pair in zip(NAMES, PAIRS, strict=True)}
    assert pairs["we work"] == "我们 工作"
    assert pairs["do they rest ?"] == "他们 休息 吗 ？"
    assert pairs["why do we work ?"] == "我们 为什么 工作 ？"
    assert [list(pair) for pair in pairs.items()] == STORED["sentences"]


@claim("by-hand#training")
@mutation(
    "pencil.py",
    "[pair for pair in sentences() if pair.source not in UNSEEN]",
    "[pair for pair in sentences() if pair.source]",
    fault="the training sees every sentence",
)
@pytest.mark.slow
def test_the_training_never_sees_the_unseen_sentence(monkeypatch):
    batches, losses = [], pencil.losses

    def record(model: torch.nn.Module, weights: dict, batch: pencil.Batch):
        batches.append(batch)
        return losses(model, weights, batch)

    monkeypatch.setattr(pencil, "losses", record)
    (translator,), _ = pencil.train(seeds=1, steps=(1, 2))
    assert [" ".join(words) for words in pencil.UNSEEN] == STORED["unseen"] == ["why do we work ?"]
    assert len(batches) > 3
    for batch in batches:
        ids = [[i for i in row if i != PAD] for row in batch.src.tolist()]
        rows = [[translator.source.tokens[i] for i in row] for row in ids]
        assert rows == [pair.source for pair in PAIRS if pair.source not in pencil.UNSEEN]
        assert len(rows) == 11


@claim("by-hand#training")
def test_the_gradient_passes_the_rounding_unchanged():
    weight = torch.tensor([0.5, -1.75, 2.625, 5.0], requires_grad=True)
    assert pencil.partly_whole(weight, 0.0).tolist() == weight.tolist()
    assert pencil.partly_whole(weight, 0.5).tolist() == [0.25, -1.875, 2.8125, 4.5]
    rounded = pencil.partly_whole(weight, 1.0)
    assert rounded.tolist() == [0, -2, 3, 4]
    (rounded * torch.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert weight.grad is not None and weight.grad.tolist() == [1, 2, 3, 4]


@claim("by-hand#cross-attention")
def test_head_0_looks_at_the_word_to_be_translated_and_from_a_verb_to_its_subject():
    for pair in PAIRS:
        tables = in_torch(pair.source, pair.target)
        cross = tables["decoder.layers.0.cross_attention.weights.0"]
        for i, token in enumerate(pair.target):
            assert cross[i, pair.source.index(WORDS[token])] > LOOK
        encoder = tables["encoder.layers.0.self_attention.weights.0"]
        assert encoder[-1, 0] > LOOK or pair.source[-1] != "?"
        verb = next(i for i, word in enumerate(pair.source) if word in ("work", "rest"))
        assert encoder[verb, verb - 1] > LOOK


@claim("by-hand#step")
@mutation("transformer.py", "return self.output(x)", "return self.output(x) * 2", fault="doubled")
def test_the_gradient_of_the_output_layer_is_p_minus_y_times_its_input(printed):
    torch.manual_seed(0)
    model = pencil.load_pencil().model
    x, target = torch.randn(4), 5
    logits = model.logits(x)
    torch.nn.functional.cross_entropy(logits, torch.tensor(target)).backward()
    p = logits.softmax(dim=-1)
    y = torch.zeros(len(p))
    y[target] = 1
    torch.testing.assert_close(model.output.weight.grad, (p - y)[:, None] * x)
    shown = printed("examples", "step")
    before, after = (float(shown[f"probability of 我们 {when}"]) for when in ("before", "after"))
    assert after > before


@claim("by-hand#training")
def test_numbers_are_changed_by_1_until_no_change_is_better():
    goal = torch.tensor([[2.0, -3.0], [0.0, 4.0]])

    def loss(weights: dict[str, torch.Tensor]) -> torch.Tensor:
        return (weights["a"] - goal).square().sum() + weights["b"].square().sum()

    start = {"a": torch.zeros(2, 2), "b": torch.tensor([1.0, -1.0, 2.0])}
    weights, smallest = pencil.polish(loss, start)
    assert smallest == 0
    assert weights["a"].equal(goal) and weights["b"].equal(torch.zeros(3))


@claim("by-hand#training", kind="measurement")
def test_the_stored_weights_are_of_the_current_code():
    made_by = (SNIPPETS / name for name in pencil.MADE_BY)
    assert STORED["key"] == code_key(*made_by), "stale; run python pencil.py in snippets/"
    assert STORED["seed"] == pencil.SEED


@claim("by-hand#training", kind="measurement")
@pytest.mark.slow
def test_training_again_gives_a_model_of_whole_numbers_that_translates_all_12_sentences():
    """Another processor rounds differently, so that the numbers need not be the stored ones."""
    translators, _ = pencil.train()
    translator = translators[pencil.SEED]
    numbers = [n for weight in translator.model.parameters() for n in weight.flatten().tolist()]
    assert all(n == round(n) and abs(n) <= 4 for n in numbers)
    found = translator.translate([pair.source for pair in PAIRS])
    assert found == [pair.target for pair in PAIRS]


def flat(rows: Any) -> list[int]:
    return [n for row in rows for n in flat(row)] if isinstance(rows, list) else [rows]


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return json.loads((SNIPPETS / "results" / "pencil.json").read_text(encoding="utf-8"))


@claim("by-hand#training", kind="measurement")
def test_the_results_of_the_seeds_are_of_the_current_code(results):
    experiment = runpy.run_path(str(ROOT / "scripts" / "experiments" / "pencil.py"))
    assert results["key"] == experiment["key"](), "stale; run scripts/experiment pencil"
    runs = {(run["looking"], run["seed"]): run for run in results["runs"]}
    assert [*runs] == [(a, seed) for a in (pencil.LOOKING, 0.0) for seed in range(pencil.SEEDS)]
    stored = runs[pencil.LOOKING, pencil.SEED]
    numbers = [n for rows in STORED["weights"].values() for n in flat(rows)]
    assert (stored["zeros"], stored["seen"], stored["unseen"]) == (numbers.count(0), 11, 1)


@claim("by-hand#training", kind="measurement")
def test_head_0_gives_the_words_more_weight_with_the_term(results, printed):
    with_term, without = (
        [run for run in results["runs"] if (run["looking"] > 0) == term] for term in (True, False)
    )
    smallest = min(run["cross weight"] for run in with_term)
    assert smallest > max(run["cross weight"] for run in without)
    shown = printed("examples", "alignment")
    for runs, name in (with_term, "with the term"), (without, "without the term"):
        assert int(shown[f"{name}, head 0 is aligned"]) == sum(run["aligned"] for run in runs)


@claim("by-hand#loss", kind="measurement")
def test_the_loss_falls_from_above_that_of_guessing_to_almost_zero(printed):
    shown = {name: float(value) for name, value in printed("examples", "loss").items()}
    assert shown["before, loss"] > shown["guessing, loss"] - 0.5 > 1
    assert shown["after, loss"] < -math.log(LOWEST)
