"""The claims of the page on training on your own text."""

import hashlib
import json
import math
import random
import runpy
import shutil
import signal
import statistics
import sys
from collections import Counter
from dataclasses import fields, replace
from io import BytesIO, StringIO, TextIOWrapper
from itertools import chain, islice, pairwise, product
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
import tokenizers
import torch
import torch.nn.functional as F
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import byte_pair_encoding
import metrics
import phrases
import sentence_pairs
import train_pairs
from batching import Example, cut, example_of, token_batches
from corpus import Vocabulary
from decode import beam_search
from helpers import SNIPPETS, few, measured
from marks import claim, mutation
from metrics import bleu, chrf, evaluate, mean_loss, scores, translate_all
from sentence_pairs import Text, learn_subwords, read_pairs, split_pairs
from small_training import PAIRS, interrupt_at, same_bits, silent, small_translator
from test_distributed_training import in_two_processes
from train_pairs import PairSettings, PairTrainer, model_sizes
from trainer import SINGLE_PROCESS, DistributedContext
from transformer import Transformer, TransformerConfig
from translator import BOS, EOS, Translator, load_translator, save_translator

# A file that the tests write


def generated_texts(count: int) -> list[Text]:
    """Different English sentences with their Chinese translations."""
    rng = random.Random(0)
    texts: dict[Text, None] = {}
    while len(texts) < count:
        drawn = phrases.phrase(rng.choice(list(phrases.KINDS)), rng)
        texts[Text(drawn.english, drawn.chinese)] = None
    return [*texts]


TEXTS = generated_texts(150)


def write_pairs(path: Path, texts: list[Text] = TEXTS) -> Path:
    path.write_text("".join(f"{a}\t{b}\n" for a, b in texts), encoding="utf-8")
    return path


# Reading and cleaning


@claim("own-text#file")
def test_lines_are_cleaned_and_dropped_ones_reported_with_reason_and_number(tmp_path):
    long = "word " * 10_000
    lines = ["a\tb", "", "a\tb", f"{long}\tlong", " \tc", "d\t", "a\tc", "hi\tfar too long"]
    lines += [" E\u0301te\u0301 \u2003vert? \tgreen  summer"]
    path = tmp_path / "pairs.tsv"
    path.write_text("\n".join(lines), encoding="utf-8")
    pairs, dropped = read_pairs(path)
    assert pairs == [Text("a", "b"), Text("a", "c"), Text("\u00c9t\u00e9 vert?", "green summer")]
    expected = {"empty": [2, 5, 6], "duplicate": [3], "too long": [4], "length ratio": [8]}
    assert dropped == expected


@claim("own-text#file")
@pytest.mark.parametrize("letter", ["a", "é", "译"])
def test_lengths_are_measured_in_bytes_up_to_both_limits(letter):
    size = len(letter.encode())
    longest = letter * (512 // size) + "a" * (512 % size)
    assert sentence_pairs.reason_to_drop(Text(longest, longest)) is None
    assert sentence_pairs.reason_to_drop(Text("a" * 103, longest + "a")) == "too long"
    for pair in Text("a" * size, letter * 5), Text(letter * 5, "a" * size):
        assert sentence_pairs.reason_to_drop(pair) is None
        longer = Text(*(text + "a" if len(text.encode()) > size else text for text in pair))
        assert sentence_pairs.reason_to_drop(longer) == "length ratio"


@claim("own-text#file")
@mutation(
    "sentence_pairs.py",
    "part_of(pair.source.casefold())",
    "part_of(pair.target.casefold())",
    fault="the translation decides the part of a pair",
)
def test_each_source_is_in_one_part_whatever_the_case_of_its_letters():
    texts = [Text(a, b) for source, _ in TEXTS for a in (source, source.upper()) for b in "xy"]
    parts = split_pairs(texts)
    assert sorted(chain(*parts.values())) == sorted(texts)
    sources = [{source.lower() for source, _ in part} for part in parts.values()]
    assert all(not a & b for a, b in pairwise([*sources, sources[0]]))


# Subwords


@pytest.fixture(scope="module")
def subwords() -> sentence_pairs.Subwords:
    return learn_subwords(TEXTS, 400)


@claim("own-text#subwords")
@few
@given(text=st.text())
def test_subwords_join_to_the_text_that_was_split(subwords, text):
    assert subwords.join(subwords.split(text)) == text


@claim("own-text#subwords")
@mutation(
    "train_pairs.py",
    'learn_subwords(parts["train"], ',
    "learn_subwords(sum(parts.values(), []), ",
    fault="subwords are learned from the test part too",
)
def test_subwords_are_learned_from_the_training_part_alone():
    settings = PairSettings(vocab_size=400)
    found = train_pairs.prepare(
        split_pairs(TEXTS), settings, model_sizes(64, 1, 0.0)
    ).subwords.tokens
    assert found == learn_subwords(split_pairs(TEXTS)["train"], 400).tokens
    assert found != learn_subwords(TEXTS, 400).tokens


def unambiguous_merges(text: str) -> int:
    """How many merges there are until two pairs are equally frequent."""
    pieces, count = byte_pair_encoding.words(text), 0
    while True:
        pairs = Counter(pair for word in pieces for pair in pairwise(word)).most_common(2)
        if len(pairs) < 2 or pairs[0][1] == pairs[1][1]:
            return count
        pieces = [byte_pair_encoding.join(word, pairs[0][0]) for word in pieces]
        count += 1


@claim("own-text#subwords")
def test_our_byte_pair_encoding_learns_the_merges_of_the_library_tokenizers():
    """Up to the first tie: of equally frequent pairs the two take different ones."""
    text = " ".join(f"{a} {b}" for a, b in TEXTS)
    count = unambiguous_merges(text)
    assert count >= 3
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    pattern = tokenizers.Regex(r" ?\w+| ?[^\w\s]+|\s")
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split(pattern, "isolated")
    size = len({*text}) + count
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=size, show_progress=False)
    tokenizer.train_from_iterator([text], trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    pieces = byte_pair_encoding.words(text)
    expected = byte_pair_encoding.learn_merges(pieces, count)
    assert [tuple(merge) for merge in merges] == expected
    assert tokenizer.encode(text).tokens == byte_pair_encoding.cut(pieces, expected)


# Batches


def examples_of_lengths(lengths: list[tuple[int, int]]) -> list[Example]:
    return [(torch.full((m,), i), torch.full((n,), i)) for i, (m, n) in enumerate(lengths)]


def numbers_in(batches: list[list[Example]]) -> list[list[int]]:
    return [[int(src[0]) for src, _ in batch] for batch in batches]


def longest_sentence(batch: list[Example]) -> int:
    """The tokens of the longest sentence of either side."""
    return max(len(ids) for example in batch for ids in example)


RNG = random.Random(0)
LENGTHS = [(RNG.randint(1, 20), RNG.randint(2, 20)) for _ in range(200)]


@claim("own-text#batches")
def test_each_epoch_has_every_example_once_in_batches_that_fit():
    examples = examples_of_lengths(LENGTHS)
    batches = token_batches(examples, 64, 0)
    count = len(cut(sorted(map(max, LENGTHS), reverse=True), 64))
    first, second = [[*islice(batches, count)] for _ in range(2)]
    for epoch in first, second:
        assert sorted(chain(*numbers_in(epoch))) == [*range(200)]
        assert all(longest_sentence(batch) * len(batch) <= 64 for batch in epoch)
    assert sorted(numbers_in(first)) != sorted(numbers_in(second))
    lengths = [longest_sentence(batch) for batch in first]
    assert lengths != sorted(lengths, reverse=True)
    padded_size = sum(longest_sentence(batch) * len(batch) for batch in first)
    assert padded_size < 1.1 * sum(map(max, LENGTHS))  # similar lengths are together


@claim("own-text#processes")
@pytest.mark.parametrize("processes", [1, 2, 3])
def test_each_process_gets_a_sentence_of_every_batch(processes):
    lengths = sorted((max(pair) for pair in LENGTHS), reverse=True)
    slices = cut(lengths, 64, processes)
    assert all(each.stop - each.start >= processes for each in slices)
    assert 0 <= len(lengths) - slices[-1].stop < processes
    assert [a.stop for a in slices[:-1]] == [b.start for b in slices[1:]]


# Metrics

WORDS = ["the", "cat", "sat", "on", "a", "mat", ".", "猫"]
sentence = st.lists(st.sampled_from(WORDS), max_size=8)
corpora = st.lists(st.tuples(sentence, sentence.filter(bool)), min_size=1, max_size=4)


@claim("own-text#scores")
@few
@given(corpus=corpora)
def test_bleu_and_chrf_equal_those_of_sacrebleu(corpus):
    import sacrebleu  # its imports need a module that Windows lacks

    hypotheses, references = map(list, zip(*corpus, strict=True))
    texts = [" ".join(words) for words in hypotheses]
    expected = [" ".join(words) for words in references]
    reference_bleu = sacrebleu.corpus_bleu(texts, [expected], tokenize="none", force=True).score
    assert bleu(hypotheses, references) == pytest.approx(reference_bleu, rel=1e-9, abs=1e-12)
    reference_chrf = sacrebleu.corpus_chrf(texts, [expected]).score
    assert chrf(texts, expected) == pytest.approx(reference_chrf, rel=1e-9, abs=1e-12)


@claim("own-text#scores")
def test_both_scores_of_the_page_by_hand():
    reference = "我们为什么工作"
    expected = 100 * (7 / 8 * 5 / 7 * 3 / 6 * 2 / 5) ** (1 / 4)
    assert bleu([[*"我们为什么要工作"]], [[*reference]]) == pytest.approx(expected)
    p, r = (4 / 4 + 2 / 3 + 0 + 0) / 4, (4 / 7 + 2 / 6 + 0 + 0) / 4
    assert (p, r) == pytest.approx((0.417, 0.226), abs=5e-4)
    assert chrf(["我们工作"], [reference]) == pytest.approx(500 * p * r / (4 * p + r))
    assert bleu([[*"我工作"]], [[*"我工作"]]) == 0  # no translation has four tokens


@claim("own-text#scores")
@pytest.mark.parametrize(
    ("hypothesis", "reference", "tokenize"),
    [
        ("你为什么没有踢足球？", "你为什么从来没踢过足球？", "zh"),
        ("It isn't a cat.", "It is a cat.", "13a"),
    ],
)
def test_the_scores_are_those_of_sacrebleu_for_the_language(hypothesis, reference, tokenize):
    import sacrebleu

    expected = sacrebleu.corpus_bleu([hypothesis], [[reference]], tokenize=tokenize).score
    chrf2 = sacrebleu.corpus_chrf([hypothesis], [[reference]]).score
    assert scores([hypothesis], [reference]) == {f"BLEU ({tokenize})": expected, "chrF2": chrf2}
    assert 0 < expected < 100


@claim("own-text#scores")
def test_the_held_out_loss_is_the_mean_over_tokens_without_dropout_and_smoothing():
    translator = small_translator()
    examples = [example_of(translator, pair) for pair in PAIRS]
    translator.model.eval()
    losses = []
    for src, tgt in examples:
        logits = translator.model(src[None], tgt[None, :-1])[0]
        losses += F.cross_entropy(logits, tgt[1:], reduction="none").tolist()
    translator.model.train()
    expected = pytest.approx(statistics.fmean(losses), rel=1e-5)
    for max_tokens in 1, 30, 500:
        assert mean_loss(translator.model, examples, max_tokens) == expected
    assert translator.model.training


@claim("own-text#scores")
def test_translations_are_those_of_beam_search_in_the_order_of_the_sources():
    translator = small_translator(seed=1)
    sources = [pair.source for pair in PAIRS[109:99:-1]]
    expected = []
    for source in sources:
        src = torch.tensor([translator.source.encode(source)])
        ids = beam_search(translator.model, src, 2 * src.size(1) + 20, BOS, EOS, 2)
        expected.append(translator.target.decode(ids[0].tolist()))
    assert translate_all(translator, sources, beam_size=2, batch_size=1) == expected


def untrained_translator(subwords: sentence_pairs.Subwords) -> Translator:
    """A small model of subwords with its random weights."""
    vocabulary = Vocabulary(subwords.tokens)
    config = TransformerConfig(len(vocabulary), len(vocabulary), d_model=8, nhead=1)
    return Translator(Transformer(config), vocabulary, vocabulary)


# A training

SETTINGS = PairSettings(
    steps=12, batch_size=40, warmup_steps=4, every=4, average=3, patience=2, clip=1.5
)


def new_trainer(settings=SETTINGS, group=SINGLE_PROCESS, **sizes) -> PairTrainer:
    return PairTrainer(small_translator(**sizes), PAIRS, PAIRS[:9], settings, group)


def train_small(settings=SETTINGS, show=silent, group=SINGLE_PROCESS, **options):
    """A trained translator, and the curve without its seconds."""
    translator = small_translator(**options.pop("sizes", {}))
    trainer = PairTrainer(translator, PAIRS, PAIRS[:9], settings, group)
    curve = trainer.train(show=show, **options)
    return translator, [{**point, "seconds": 0} for point in curve]


def gradient_norms(trainer: PairTrainer) -> list[float]:
    """The norm of all gradients at each step of the optimizer."""
    norms = []

    def record(*_) -> None:
        grads = [p.grad for p in trainer.model.parameters() if p.grad is not None]
        norms.append(nn.utils.get_total_norm(grads).item())

    trainer.optimizer.register_step_pre_hook(record)
    list(trainer.steps(Event()))
    return norms


@claim("own-text#clipping")
def test_gradients_are_clipped_and_clipped_steps_are_counted():
    unclipped, never = PairSettings(steps=1, clip=math.inf), PairSettings(steps=1, clip=1e-3)
    trainer = new_trainer(unclipped)
    (norm,) = gradient_norms(trainer)
    assert trainer.clipped == 0 and norm > 0.01
    trainer = new_trainer(never)
    assert gradient_norms(trainer) == [pytest.approx(1e-3, rel=1e-3)] and trainer.clipped == 1
    trainer = new_trainer(PairSettings(steps=8, batch_size=40, warmup_steps=4, clip=norm))
    assert max(gradient_norms(trainer)) <= norm * 1.001
    assert 0 < trainer.clipped < 8


@claim("own-text#training")
def test_the_learning_rate_rises_and_falls_like_that_of_the_paper():
    trainer, rates = new_trainer(), []
    for _ in trainer.steps(Event()):
        rates.append(trainer.optimizer.param_groups[0]["lr"])
    expected = [16**-0.5 * min(step**-0.5, step * 4**-1.5) for step in range(1, 13)]
    assert rates == pytest.approx(expected) and max(rates) == rates[3]


@claim("own-text#training")
def test_gradients_that_are_not_finite_end_the_training_before_the_step(monkeypatch):
    trainer = new_trainer()
    monkeypatch.setattr(nn.utils, "clip_grad_norm_", lambda *_: torch.tensor(math.nan))
    before = [p.clone() for p in trainer.model.parameters()]
    with pytest.raises(ValueError, match="gradients of step 1 have the norm nan"):
        next(trainer.steps(Event()))
    assert all(torch.equal(a, b) for a, b in zip(before, trainer.model.parameters(), strict=True))


@claim("own-text#average")
def test_the_result_is_the_mean_of_the_last_models_or_the_best_of_them(monkeypatch):
    for loss_of_mean, expected in (0.5, 2.0), (2.5, 3.0):
        trainer = new_trainer()
        trainer.curve = [{"held_out": loss} for loss in (0.1, 3, 1, 2)]
        names = trainer.model.state_dict().items()
        trainer.recent = [
            {name: torch.full_like(weight, float(value)) for name, weight in names}
            for value in (1, 3, 2)
        ]
        monkeypatch.setattr(trainer, "held_out_loss", lambda loss=loss_of_mean: loss)
        trainer.finish()
        assert {value for p in trainer.model.parameters() for value in p.unique().tolist()} == {
            expected
        }


@claim("own-text#average")
def test_a_training_stops_after_as_many_measurements_without_a_better_one(monkeypatch):
    losses = iter([3.0, 2.0, 2.5, 1.0, 1.5, 1.0, 1.5, 1.25, 0.1, 0.1])
    monkeypatch.setattr(PairTrainer, "held_out_loss", lambda trainer: next(losses))
    settings = replace(SETTINGS, steps=1000, every=1)
    translator, curve = train_small(settings)
    assert [point["step"] for point in curve] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert next(losses) == 0.1  # the one before was of the mean
    assert not translator.model.training


@claim("own-text#resume")
@pytest.mark.parametrize(("step", "averaged"), [(4, False), (10, True)])
def test_a_resumed_training_equals_an_uninterrupted_one_bit_by_bit(
    monkeypatch, tmp_path, step, averaged
):
    """Weights, losses, learning rates and clipped steps; stopped at and between measurements."""
    if averaged:  # all models are equally good, so the result is their mean
        monkeypatch.setattr(PairTrainer, "held_out_loss", lambda trainer: 1.0)
    checkpoint = tmp_path / "pairs.checkpoint"
    settings = replace(SETTINGS, steps=24, every=4, clip=1.0, average=6)
    expected, curve = train_small(settings)
    with pytest.raises(KeyboardInterrupt, match=r"stopped after step \d+; go on with --resume"):
        train_small(settings, interrupt_at(step), checkpoint=checkpoint)
    resumed, resumed_curve = train_small(settings, checkpoint=checkpoint, resume=True)
    assert same_bits(resumed, expected)
    assert resumed_curve == curve and 0 < sum(point["clipped"] for point in curve) < 24


@claim("own-text#training")
def test_a_training_in_bfloat16_computes_something_else_close_to_it():
    expected, found = (train_small(replace(SETTINGS, bfloat16=each))[1] for each in (False, True))
    assert found != expected
    for one, other in zip(found, expected, strict=True):
        assert one["held_out"] == pytest.approx(other["held_out"], rel=0.05)


@claim("own-text#processes")
def test_two_processes_train_to_the_same_losses_as_one(tmp_path):
    settings = replace(SETTINGS, steps=8)

    def task(group: DistributedContext):
        translator, curve = train_small(settings, group=group, sizes={"dropout": 0.0})
        return curve, translator.model.state_dict()

    (first, weights), (second, others) = in_two_processes(task, tmp_path)
    expected, _ = task(SINGLE_PROCESS)
    assert first == second  # each stops early after the same measurements
    for one, other in zip(first, expected, strict=True):
        assert one == pytest.approx(other, rel=1e-4)
    assert all(torch.equal(weights[name], others[name]) for name in weights)


@claim("own-text#processes")
def test_all_processes_use_the_held_out_loss_of_the_first(tmp_path):
    """On GPUs theirs may differ in the last digit, and then one would stop before the others."""

    def task(group: DistributedContext) -> float:
        setattr(train_pairs, "mean_loss", lambda *_: 0.5 + group.rank)  # noqa: B010
        return new_trainer(group=group).held_out_loss()

    assert in_two_processes(task, tmp_path) == [0.5, 0.5]


# The command

SHORT = [
    *("--d-model", "16", "--layers", "1", "--vocab-size", "300", "--batch-size", "600"),
    *("--steps", "4", "--every", "2", "--warmup-steps", "2"),
]


def command(folder: Path, *options: object, texts: list[Text] = TEXTS) -> None:
    """A short training on a file in this folder, which also gets the results."""
    file = write_pairs(folder / "pairs.tsv", texts)
    train_pairs.main([str(file), "--out", str(folder), *SHORT, *map(str, options)])


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def without_beam_search(monkeypatch) -> None:
    """Replaces beam search, which takes long before a model has learned to end a sentence."""
    monkeypatch.setattr(metrics, "beam_search", lambda model, src, *_: src)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@claim("own-text#command")
@pytest.mark.parametrize("kind", [Terminal, StringIO])
def test_a_terminal_shows_the_progress(without_beam_search, tmp_path, monkeypatch, kind):
    stages = ["cleaning", "splitting train", "translating"]
    monkeypatch.setattr(sys, "stderr", stderr := kind())
    command(tmp_path)
    shown = [stage for stage in stages if f"{stage}: " in stderr.getvalue()]
    assert shown == (stages if kind is Terminal else [])


@claim("own-text#command")
def test_the_help_lists_the_settings_and_their_defaults(capsys):
    with pytest.raises(SystemExit) as ended:
        train_pairs.main(["--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    for field in fields(PairSettings):
        assert f"--{field.name.replace('_', '-')}" in printed
        if field.name not in ("bfloat16", "compile"):
            default = getattr(PairSettings, field.name)
            assert f"({default}" in printed


@claim("own-text#command")
def test_the_command_saves_the_translator_subwords_and_translations(
    without_beam_search, tmp_path, capsys
):
    out = tmp_path / "new" / "folder"
    command(tmp_path, "--out", out, texts=[*TEXTS, TEXTS[0]])
    names = ["pairs.safetensors", "pairs.subwords.json", "pairs.test.tsv"]
    others = ["pairs.checkpoint", "pairs.curve.png", "pairs.curve.tsv"]
    assert names_in(out) == [*others, *names]
    printed = capsys.readouterr().out
    counts = {name: len(part) for name, part in split_pairs(TEXTS).items()}
    parts = ", ".join(f"{count} {name}" for name, count in counts.items())
    assert printed.startswith(f"pairs: 150 ({parts})\ndropped 1 duplicate (line 151)\n")
    labels = [line.split(maxsplit=1)[1] for line in printed.splitlines()[-3:]]
    assert labels == ["perplexity", "BLEU (zh)", "chrF2"]
    translator = load_translator(out / names[0])
    subwords = sentence_pairs.Subwords(tokenizers.Tokenizer.from_file(str(out / names[1])))
    assert translator.source.tokens[3:] == translator.target.tokens[3:] == subwords.tokens
    texts = split_pairs(TEXTS)["test"]
    rows = [line.split("\t") for line in (out / names[2]).read_text("utf-8").splitlines()]
    assert [Text(*row[:2]) for row in rows] == texts
    result, table = evaluate(translator, subwords, texts, 600)
    assert (out / names[2]).read_text("utf-8") == table
    shown = [float(line.split()[0]) for line in printed.splitlines()[-3:]]
    assert shown == [pytest.approx(score, abs=0.005) for score in result.values()]


@claim("own-text#scores")
def test_without_sacrebleu_the_command_prints_the_perplexity_and_a_message(
    without_beam_search, tmp_path, capsys, monkeypatch
):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    command(tmp_path)
    printed = capsys.readouterr().out
    assert "no BLEU and chrF; install them with: pip install sacrebleu\n" in printed
    assert printed.endswith("  perplexity\n") and "BLEU (zh)" not in printed
    assert (tmp_path / "pairs.safetensors").exists()


@claim("own-text#resume")
@pytest.mark.parametrize("kept", ["checkpoint", "safetensors"])
def test_an_existing_file_is_not_overwritten(tmp_path, kept):
    existing = tmp_path / f"pairs.{kept}"
    existing.write_text("hours of training")
    hint = "continue with --resume" if kept == "checkpoint" else "delete it"
    message = rf"{existing.name} exists; {hint}, or choose [^\n]*--out$"
    with pytest.raises(SystemExit, match=message):
        command(tmp_path)
    assert existing.read_text() == "hours of training"


BAD_FILES = {
    "one column": (b"a\tb\n\nno tab here\n", "pairs.tsv:3: one column; a line has a source, a tab"),
    "Latin-1": (b"a\tb\ncaf\xe9\tc\n", "pairs.tsv:2: byte 4 of the line, 0xe9, is not UTF-8"),
    "empty": (b"\n \n\t\n", "pairs.tsv: the file is empty"),
    "half pairs": (b"a\t\n\tb\n", r"no pair is left; dropped 2 empty \(line 1, 2\)"),
    "few pairs": (
        "".join(f"{a}\t{b}\n" for a, b in [*TEXTS[:99], *TEXTS[:3]]).encode(),
        r"pairs left: 99; .* at least 100.*; dropped 3 duplicate \(line 100, 101, 102",
    ),
}


@claim("own-text#file")
@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_input_ends_the_command_with_one_line_and_changes_no_file(tmp_path, name):
    """A checkpoint of an earlier version of the file is still there."""
    data, message = BAD_FILES[name]
    (tmp_path / "pairs.tsv").write_bytes(data)
    checkpoint = tmp_path / "pairs.checkpoint"
    checkpoint.write_text("hours of training")
    with pytest.raises(SystemExit, match=message) as ended:
        train_pairs.main([str(tmp_path / "pairs.tsv"), "--out", str(tmp_path), "--resume"])
    assert str(ended.value).startswith("train_pairs.py: ") and "\n" not in str(ended.value)
    assert names_in(tmp_path) == ["pairs.checkpoint", "pairs.tsv"]
    assert checkpoint.read_text() == "hours of training"


@claim("own-text#resume")
@mutation(
    "train_pairs.py",
    "signal.signal(signal.SIGTERM, stop)",
    "signal.signal(signal.SIGTERM, lambda *_: None)",
    fault="kill ends a training without a checkpoint",
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_resumes_after_ctrl_c_and_kill(
    without_beam_search, tmp_path, monkeypatch, number
):
    command(tmp_path, "--out", tmp_path / "whole")
    with monkeypatch.context() as patch:
        train, show = PairTrainer.train, interrupt_at(2, number)
        patch.setattr(PairTrainer, "train", lambda *arguments: train(*arguments[:3], show))
        with pytest.raises(SystemExit, match="stopped after step 3; go on with --resume"):
            command(tmp_path, "--out", tmp_path / "parts")
    curves = ["pairs.curve.png", "pairs.curve.tsv"]
    assert names_in(tmp_path / "parts") == ["pairs.checkpoint", *curves]
    command(tmp_path, "--out", tmp_path / "parts", "--resume")
    one, other = (
        load_translator(tmp_path / each / "pairs.safetensors") for each in ("whole", "parts")
    )
    assert same_bits(one, other)
    assert names_in(tmp_path / "parts") == names_in(tmp_path / "whole")


@claim("own-text#resume")
@mutation(
    "train_pairs.py",
    "with FileLock(files.lock, timeout=0):",
    "if True:",
    fault="two trainings write the same files",
)
def test_two_trainings_do_not_write_the_same_files(tmp_path):
    message = r"another training is writing [^\n]*pairs\.checkpoint"
    with FileLock(tmp_path / "pairs.lock"), pytest.raises(SystemExit, match=message):
        command(tmp_path)
    assert not (tmp_path / "pairs.safetensors").exists()


@claim("own-text#resume")
def test_a_disk_without_room_for_the_checkpoints_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=10**5))
    with pytest.raises(SystemExit, match=r"has 0 MB free; this training needs \d MB: choose"):
        command(tmp_path)
    assert names_in(tmp_path) == ["pairs.tsv"]


@claim("own-text#resume")
def test_a_finished_training_can_be_made_longer_but_not_another_one(without_beam_search, tmp_path):
    command(tmp_path)
    command(tmp_path, "--resume", "--steps", "8")
    steps = [line.split("\t")[0] for line in (tmp_path / "pairs.curve.tsv").open()]
    assert steps == ["step", "2", "4", "6", "8"]
    command(tmp_path, "--out", tmp_path / "linear", "--schedule", "linear")
    linear = ["--out", tmp_path / "linear", "--schedule", "linear", "--steps", "8"]
    for message, options, texts in (
        ("has finished after step 8; a larger --steps", ["--steps", "8"], TEXTS),
        ("seed is 0 there and 1 here", ["--seed", "1"], TEXTS),
        ("steps is 4 there and 8 here", linear, TEXTS),
        (r"of another run: its data are others$", [], generated_texts(160)),
    ):
        with pytest.raises(SystemExit, match=message):
            command(tmp_path, "--resume", *options, texts=texts)


@claim("own-text#curve")
def test_each_measurement_is_a_line_of_the_curve(without_beam_search, tmp_path, capsys):
    command(tmp_path, "--bleu-pairs", "3")
    header, *rows = (tmp_path / "pairs.curve.tsv").read_text().splitlines()
    assert header == "step\ttraining loss\tvalidation loss\tperplexity\tBLEU"
    for row in rows:
        _, _, loss, perplexity, _ = map(float, row.split("\t"))
        assert perplexity == pytest.approx(math.exp(loss), rel=1e-3)
    kept = [line.split("\r")[-1] for line in capsys.readouterr().out.splitlines()]
    assert [line[:8] for line in kept if line.startswith("step")] == ["step 2/4", "step 4/4"]
    assert (tmp_path / "pairs.curve.png").read_bytes().startswith(b"\x89PNG")


@claim("own-text#curve")
def test_a_diverged_training_ends_with_a_word(without_beam_search, tmp_path, capsys):
    command(tmp_path, "--schedule", "linear", "--peak", "1e4", "--steps", "40")
    printed = capsys.readouterr().out
    assert "that of guessing: try a lower peak" in printed and "inf  perplexity" in printed


@claim("own-text#size")
def test_the_number_of_pairs_chooses_the_size(without_beam_search, tmp_path, monkeypatch, capsys):
    file = write_pairs(tmp_path / "pairs.tsv")
    few = ["--steps", "1", "--every", "1", "--vocab-size", "300", "--batch-size", "600"]
    for limit, size, sizes in (151, "small", "2 + 2"), (150, "base", "3 + 3"):
        monkeypatch.setattr(train_pairs, "MANY_PAIRS", limit)
        train_pairs.main([str(file), "--out", str(tmp_path / size), *few])
        width = train_pairs.SIZES[size]["d_model"]
        expected = f"size {size}: d_model {width}, nhead {width // 64}, layers {sizes}, "
        assert expected in capsys.readouterr().out


@claim("own-text#size")
@pytest.mark.parametrize("d_model", [62, 64, 200, 512])
def test_each_even_width_has_a_number_of_heads(d_model):
    nhead = model_sizes(d_model, 1, 0.0)["nhead"]
    assert d_model % nhead == 0 and d_model // nhead >= min(64, d_model)
    assert d_model % 64 or d_model // nhead == 64


@claim("own-text#command")
def test_a_damaged_translator_is_refused(subwords, tmp_path):
    path = tmp_path / "pairs.safetensors"
    save_translator(untrained_translator(subwords), path, seed=0)
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match="is damaged: its checksum differs; train again"):
        load_translator(path)


def translate_pairs(monkeypatch, *arguments: object) -> None:
    """Runs `python translate_pairs.py` with the arguments."""
    monkeypatch.setattr(sys, "argv", ["translate_pairs.py", *map(str, arguments)])
    runpy.run_path(str(SNIPPETS / "translate_pairs.py"), run_name="__main__")


@claim("own-text#command")
def test_a_sentence_is_cleaned_and_translated_by_the_saved_model(
    without_beam_search, subwords, tmp_path, monkeypatch, capsys
):
    """With a beam search that returns the source."""
    path, saved = tmp_path / "my.pairs.safetensors", tmp_path / "my.pairs.subwords.json"
    data = subwords.tokenizer.to_str().encode()
    saved.write_bytes(data)
    key = hashlib.sha256(data).hexdigest()
    save_translator(untrained_translator(subwords), path, seed=0, subwords=key)

    def printed(*texts: str) -> list[str]:
        translate_pairs(monkeypatch, tmp_path / "my.pairs", *texts)
        return capsys.readouterr().out.split("\n")

    assert printed(" un\u2003\tcafe\u0301 \n") == ["un café", ""]
    assert printed("two", "sentences\nand a third") == ["two", "sentences", "and a third", ""]
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO("\ufeffone\n\nthé".encode())))
    assert printed() == ["one", "", "thé", ""]


# What is measured


@pytest.fixture(scope="module")
def own_text() -> dict[str, Any]:
    return measured("own_text")[1]


@pytest.fixture(scope="module")
def guessing() -> dict[str, Any]:
    return measured("own_text_guessing")[1]


@claim("own-text#measured", kind="measurement")
def test_the_measured_trainings_are_of_the_current_code(own_text):
    assert measured("own_corpus")
    assert own_text["lines"] == 50_000
    assert sum(own_text["dropped"].values()) + sum(own_text["parts"].values()) == 50_000


@claim("own-text#clipping", kind="measurement")
def test_warm_up_and_clipping_each_lower_the_loss_of_short_trainings(own_text, guessing):
    losses = {
        (run["norm_first"], run["warm-up"], run["clipping"], run["seed"]): (
            run["curve"][-1]["held_out"]
        )
        for run in own_text["short"]
    }
    assert len(losses) == 16
    assert max(losses.values()) < guessing["validation loss"] - 1
    for norm_first, other, seed in product((True, False), (True, False), (0, 1)):
        with_warm_up = losses[norm_first, True, other, seed]
        assert with_warm_up < losses[norm_first, False, other, seed]
        clipped = losses[norm_first, other, True, seed]
        assert clipped < losses[norm_first, other, False, seed]


@claim("own-text#measured", kind="measurement")
def test_the_model_is_better_than_copying_and_copying_than_guessing(own_text, guessing):
    for score in "BLEU (zh)", "chrF2":
        frequent, nearest = guessing["frequent"][score], guessing["nearest"][score]
        assert frequent < 5 < 50 < nearest < own_text["scores"][score]
