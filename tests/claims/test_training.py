"""The claims of the chapter on training."""

import itertools
import json
import math
import random
import re
import runpy
import statistics
import sys
from dataclasses import replace
from functools import partialmethod
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

import corpus
import train as training
from batching import batches, example_of
from corpus import Pair
from helpers import ROOT
from marks import claim, mutation
from small_training import (
    PAIRS,
    SHORT,
    SIZES,
    interrupt_at,
    small_translator,
    train,
)
from trainer import (
    SINGLE_PROCESS,
    Settings,
    Trainer,
    forward_backward,
    linear_learning_rate,
)
from translator import (
    code_key,
    exact_match,
    load_translator,
    new_translator,
    read_file,
)

# Batches


def examples_of_lengths(seed: int, count: int) -> list:
    """Examples of many lengths; all ids of one are its number."""
    lengths = random.Random(seed).choices(range(1, 21), k=count)
    return [(torch.full((n,), i), torch.full((n + 2,), i)) for i, n in enumerate(lengths)]


def first_batches(batches, count: int) -> list[list[int]]:
    """The numbers of the examples in the first batches."""
    first = itertools.islice(batches, count)
    return [[src[0].item() for src, _ in batch] for batch in first]


@claim("reproducibility#determinism")
def test_the_seed_and_the_epoch_determine_the_order_and_an_epoch_has_no_example_twice():
    examples = examples_of_lengths(0, 63)
    one, again, other = (first_batches(batches(examples, 10, seed), 12) for seed in (1, 1, 2))
    assert one == again != other
    for epoch in one[:6], one[6:]:
        assert len({*itertools.chain(*epoch)}) == 60
    assert one[:6] != one[6:]
    for start in 4, 6, 7:
        assert first_batches(batches(examples, 10, 1, start), 5) == one[start : start + 5]


@claim("reproducibility#similar-length")
@mutation(
    "batching.py",
    "rng.shuffle(epoch_batches)",
    "rng.random()",
    fault="the shortest batches come first",
)
def test_long_and_short_batches_come_in_random_order():
    examples = examples_of_lengths(0, 2000)
    lengths = [len(batch[0][0]) for batch in itertools.islice(batches(examples, 20, 0), 40)]
    assert lengths not in (sorted(lengths), sorted(lengths, reverse=True))


@claim("reproducibility#determinism")
@pytest.mark.parametrize("size", [0, 6])
def test_a_batch_size_larger_than_the_data_set_is_rejected(size):
    examples = examples_of_lengths(0, 5)
    with pytest.raises(ValueError, match=re.escape("batch_size must lie in 1 .. 5")):
        next(batches(examples, size, 0))
    assert [len(next(batches(examples, allowed, 0))) for allowed in (1, 5)] == [1, 5]


# A step


@claim("training#teacher-forcing")
@mutation(
    "batching.py",
    "torch.tensor([BOS, *tgt, EOS])",
    "torch.tensor([BOS, *tgt])",
    fault="a target of the training has no <eos>",
)
def test_an_example_is_source_ids_and_target_ids_between_bos_and_eos():
    translator = small_translator()
    src, tgt = example_of(translator, PAIRS[42])
    assert translator.source.decode(src.tolist()) == ["forty", "two"]
    assert tgt.tolist() == [1, *translator.target.encode("四十二"), 2]


@claim("training#teacher-forcing")
def test_all_tokens_are_predicted_at_once_each_from_the_tokens_before_it():
    """The loss of one pass equals that of sentences read token by token."""
    translator = small_translator(dropout=0.0)
    model = translator.model
    examples = [example_of(translator, PAIRS[n]) for n in (7, 142, 20)]
    losses = []
    for src, tgt in examples:
        for i in range(1, len(tgt)):
            logits = model(src[None], tgt[None, :i])[0, -1]
            losses.append(F.cross_entropy(logits, tgt[i], label_smoothing=0.1).item())
    loss, _ = forward_backward(model, examples, SHORT, SINGLE_PROCESS)
    assert loss == pytest.approx(statistics.fmean(losses), rel=1e-5)


@claim("distributed-training#step")
@mutation(
    "trainer.py",
    "torch.bfloat16, settings.bfloat16)",
    "torch.bfloat16, False)",
    fault="training ignores the setting bfloat16",
)
def test_in_bfloat16_the_loss_is_nearly_the_same_and_the_weights_stay_float32():
    translator = small_translator(dropout=0.0)
    examples = [example_of(translator, pair) for pair in PAIRS[:20]]
    one, _ = forward_backward(translator.model, examples, SHORT, SINGLE_PROCESS)
    half = replace(SHORT, bfloat16=True)
    other, _ = forward_backward(translator.model, examples, half, SINGLE_PROCESS)
    assert one != other and one == pytest.approx(other, rel=0.02)
    kept = {p.dtype for p in translator.model.parameters()}
    assert kept == {p.grad.dtype for p in translator.model.parameters()} == {torch.float32}


# Learning


@claim("training#curve")
def test_it_learns():
    translator = new_translator(PAIRS, 0, **SIZES | {"d_model": 32, "dropout": 0.0})
    assert exact_match(translator, PAIRS)["all"] == 0
    settings = Settings(steps=240, batch_size=32, peak=1e-2, warmup_steps=20)
    curve = train(translator, PAIRS, PAIRS[100:], settings)
    assert curve[-1]["loss"] < curve[0]["loss"] / 2
    assert exact_match(translator, PAIRS)["all"] > 0.9
    assert not translator.model.training


@claim("reproducibility#program")
def test_the_settings_of_both_tasks_are_those_of_the_table():
    settings = Settings(1500, 64, schedule="linear", peak=0.004, warmup_steps=100, smoothing=0.1)
    numerals, translator = training.TASKS["numerals"], training.TASKS["translator"]
    assert numerals.settings == settings
    assert translator.settings == replace(settings, steps=5000, peak=0.003)
    layers = {"num_encoder_layers": 2, "num_decoder_layers": 2, "norm_first": True, "dropout": 0}
    assert numerals.sizes == {"d_model": 64, "dim_feedforward": 256, "nhead": 4, **layers}
    assert translator.sizes == {"d_model": 96, "dim_feedforward": 384, "nhead": 4, **layers}


@claim("reproducibility#program")
def test_the_curve_has_20_points_with_learning_rate_exact_match_and_seconds():
    translator, lines = small_translator(), []
    curve = train(translator, PAIRS, PAIRS[:9], replace(SHORT, steps=40), show=lines.append)
    assert [point["step"] for point in curve] == list(range(2, 41, 2))
    for point in curve:
        assert point["rate"] == linear_learning_rate(int(point["step"]), 4e-3, 4, 40)
        assert 0 <= point["match"] <= 1
    seconds = [point["seconds"] for point in curve]
    assert seconds == sorted(seconds) and seconds[0] > 0
    expected = r"step 40/40  loss \d\.\d+  rate 0\.0001\d  held-out 0\.0%  CPU \d+ s "
    assert re.fullmatch(expected, lines[-1])


@claim("reproducibility#file")
def test_exact_match_counts_correct_translations_by_kind():
    pairs = [Pair(["c"], [*"丙丁戊"], "3"), Pair(["a"], ["甲"], "1"), Pair(["b"], ["乙"], "1")]

    class Parrot:
        """Correct except for b, which it continues after the correct beginning."""

        def translate(self, sentences, max_len):
            answers = {"a": "甲", "b": "乙乙", "c": "丙丁戊"}
            return [[*answers[words[0]]][:max_len] for words in sentences]

    assert exact_match(Parrot(), pairs) == {"all": 2 / 3, "1": 1 / 2, "3": 1}


# Trained and measured results


MEASURED = ROOT / "snippets" / "results" / "training.json"


@pytest.fixture(scope="module")
def training_results() -> dict:
    return json.loads(MEASURED.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def translator_weights() -> Path:
    return ROOT / "snippets" / "translator.safetensors"


@claim("training#curve", kind="measurement")
def test_the_published_figures_are_of_the_current_code(training_results):
    made = runpy.run_path(str(ROOT / "scripts" / "experiments" / "training.py"))
    assert training_results["key"] == made["key"](), (
        "results/training.json is stale; run scripts/train"
    )
    runs = [(run["task"], run["seed"]) for run in training_results["runs"]]
    assert runs == list(itertools.product(["numerals", "translator"], [0, 1, 2]))


@claim("training#curve", kind="measurement")
def test_the_published_translator_is_of_the_current_code_and_as_accurate_as_its_figures(
    translator_weights, training_results
):
    about, _ = read_file(translator_weights)
    assert about["key"] == code_key(), "translator.safetensors is stale; run scripts/train"
    expected = next(run["match"] for run in training_results["runs"] if run["task"] == "translator")
    found = exact_match(load_translator(translator_weights), corpus.translator("test"))
    assert found == pytest.approx(expected, abs=0.012)  # one sentence in a kind
    assert found["all"] == pytest.approx(expected["all"], abs=0.002)


@claim("training#curve", kind="measurement")
def test_it_learns_in_minutes_for_each_of_three_seeds(training_results):
    for run in training_results["runs"]:
        assert run["seconds"] <= {"numerals": 90, "translator": 360}[run["task"]]
        assert run["match"]["all"] >= 0.99
        assert min(run["match"].values()) >= 0.95
        if run["task"] == "numerals":  # below guessing, although hardly any number is right
            assert run["curve"][0]["loss"] < math.log(18) and run["curve"][0]["match"] < 0.02


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


@claim("reproducibility#program")
def test_the_command_writes_a_translator_and_reports_its_accuracy(command, tmp_path):
    out = command("--seed", "3")
    assert [path.name for path in tmp_path.iterdir()] == ["numerals.safetensors"]
    about, _ = read_file(tmp_path / "numerals.safetensors")
    assert about["seed"] == 3 and about["key"] == code_key()
    assert out.endswith("\n   0.00%  all\n   0.00%  2 digits\n")


@claim("reproducibility#program")
def test_the_command_resumed_after_ctrl_c_writes_exactly_the_same_file(
    command, tmp_path, monkeypatch
):
    command()
    path = tmp_path / "numerals.safetensors"
    whole = path.read_bytes()
    path.unlink()
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "train", partialmethod(Trainer.train, show=interrupt_at(10)))
        with pytest.raises(SystemExit, match="go on with --resume"):
            command()
    assert not path.exists()
    command("--resume")
    assert path.read_bytes() == whole


@claim("reproducibility#program")
def test_the_command_reports_an_error_in_one_line(command, tmp_path):
    with pytest.raises(SystemExit, match=r"train\.py: there is no .*: begin without --resume"):
        command("--resume")
