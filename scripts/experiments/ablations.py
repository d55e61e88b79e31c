#!/usr/bin/env python3
"""What each part of the model and of its training contributes: trainings without it.

Each variant differs from "ours" in one thing and trains on the same numbers of at most six
digits, equally many steps: with three peaks of the learning rate and two seeds, then with the
best peak and three more seeds. Measured on held-out numbers: the fraction translated without an
error; and under teacher forcing the loss, its excess over the smallest possible loss, the
fraction of correct characters and the mean probability of the likeliest character.
Also the numerals task on ever longer numbers. Each run is written to
snippets/results/ablations.json when it ends; a second call makes only what is missing or stale.
"""

import functools
import hashlib
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

import batching
import corpus
import decode
import train
import trainer
import transformer
import translator
from bookbuild.pages.sections import read_sections
from corpus import Pair
from experiments.common.sweeps import (
    Job,
    Run,
    Task,
    best_rate,
    best_runs,
    minimum_loss,
    ratio_with_interval,
    run_sweep,
)
from trainer import Settings, Trainer
from translator import PAD, Translator

SNIPPETS = Path(__file__).resolve().parents[2] / "snippets"

RESULTS = SNIPPETS / "results" / "ablations.json"
MADE_FROM = ("transformer.py", "numerals.py", "decode.py", "translator.py")
SECTIONS = {  # of files that have more in them
    "corpus.py": ("pairs", "vocabulary", "numerals"),
    "batching.py": ("imports", "batches"),
    "trainer.py": ("label_smoothing", "schedules", "forward_backward", "trainer"),
}
SIZES = {
    "d_model": 64,
    "nhead": 4,
    "num_encoder_layers": 2,
    "num_decoder_layers": 2,
    "dim_feedforward": 256,
    "dropout": 0.0,
    "norm_first": True,
}
SETTINGS = Settings(steps=500, batch_size=64, warmup_steps=50)
PEAKS = (2e-3, 4e-3, 8e-3)


# What is changed


@contextmanager
def replaced(name: str, function: Callable) -> Iterator[None]:
    """A function of transformer.py, wherever it has been imported to."""
    before = getattr(transformer, name)
    modules = [m for m in (transformer, decode) if getattr(m, name, None) is before]
    for module in modules:
        setattr(module, name, function)
    try:
        yield
    finally:
        for module in modules:
            setattr(module, name, before)


def unscaled(query, key, value, mask=None, dropout=0.0, fused=transformer.fused_attention):
    """The scores without the division: it is undone on the queries."""
    return fused(query * query.size(-1) ** 0.5, key, value, mask, dropout)


def everyone(size: int, device: torch.device | None = None) -> Tensor:
    return torch.ones(1, 1, size, size, dtype=torch.bool, device=device)


def no_positions(model: transformer.Transformer) -> None:
    model.position.table.zero_()


def doubled_exponent(model: transformer.Transformer) -> None:
    """sin and cos of p / 10000^(2j / d) in column j, where 2j should be its pair's first."""
    n, d = model.position.table.shape
    column = torch.arange(d, dtype=torch.float64)
    angle = torch.arange(n, dtype=torch.float64)[:, None] / 10000 ** (2 * column / d)
    wrong = torch.where(column % 2 == 1, angle.cos(), angle.sin())
    model.position.table.copy_(wrong)


def learned_positions(model: transformer.Transformer) -> None:
    """They begin as large as the sinusoids, whose mean square is a half."""
    start = torch.randn_like(model.position.table) * 0.5**0.5
    del model.position.table
    model.position.table = nn.Parameter(start)


class Variant(NamedTuple):
    """What differs from ours: sizes, settings, a function of the model, the new model."""

    sizes: dict[str, Any] | None = None
    settings: dict[str, Any] | None = None
    function: tuple[str, Callable] | None = None
    change: Callable[[transformer.Transformer], None] | None = None


VARIANTS = {
    "ours": Variant(),
    "no positions": Variant(change=no_positions),
    "exponent doubled": Variant(change=doubled_exponent),
    "learned positions": Variant(change=learned_positions),
    "no causal mask": Variant(function=("causal_mask", everyone)),
    "no 1/√d_k": Variant(function=("fused_attention", unscaled)),
    "one head": Variant(sizes={"nhead": 1}),
    "dropout 0.1": Variant(sizes={"dropout": 0.1}),
    "no smoothing": Variant(settings={"smoothing": 0.0}),
    "no warm-up": Variant(settings={"warmup_steps": 1}),
    "post-norm": Variant({"norm_first": False}),
    "post-norm, no warm-up": Variant({"norm_first": False}, {"warmup_steps": 1}),
    "the paper's rate": Variant(settings={"schedule": "noam"}),
}


# What is measured


def teacher_forced(model: Translator, pairs: list[Pair], smoothing: float) -> dict[str, float]:
    """Loss, its excess over the smallest possible loss, accuracy and confidence by character."""
    examples = [batching.example_of(model, pair) for pair in pairs]
    src, tgt = (translator.padded(ids) for ids in zip(*examples, strict=True))
    targets = tgt[:, 1:]
    with decode.eval_mode(model.model):
        logits = model.model(src, tgt[:, :-1])
    real = targets != PAD
    confidence, predicted = logits[real].softmax(dim=-1).max(dim=-1)
    loss = trainer.label_smoothed_cross_entropy(logits, targets, smoothing, PAD).item()
    return {
        "held-out loss": loss,
        "excess": loss - minimum_loss(logits.size(-1), smoothing),
        "right": (predicted == targets[real]).float().mean().item(),
        "sure": confidence.mean().item(),
    }


@functools.cache
def data(part: str) -> list[Pair]:
    return corpus.numbers(part, 6, draws=20_000, held_out=1000)


def one(name: str, seed: int, peak: float) -> dict[str, Any]:
    """A variant, trained with a seed and a learning rate, and measured."""
    started = time.process_time()
    variant = VARIANTS[name]
    settings = replace(SETTINGS, seed=seed, peak=peak, **variant.settings or {})
    pairs, held_out = data("train"), data("validation")
    model = translator.new_translator(pairs, seed, **SIZES | (variant.sizes or {}))
    if variant.change:
        with torch.no_grad():
            variant.change(model.model)
    with replaced(*variant.function or ("causal_mask", transformer.causal_mask)):
        curve = Trainer(model, pairs, held_out[:100], settings).train(show=lambda line: None)
        result = {
            "loss": curve[-1]["loss"],
            "match": translator.exact_match(model, held_out)["all"],
        } | teacher_forced(model, held_out, settings.smoothing)
    rounded = {key: round(value, 5) for key, value in result.items()}
    soon = [point["step"] for point in curve if point["match"] >= 0.9]
    seconds = round(time.process_time() - started, 1)
    return {"nine of ten after": soon[0] if soon else None, **rounded, "seconds": seconds}


def numbers_of_length(digits: int, count: int) -> list[Pair]:
    rng = random.Random(digits)
    return [corpus.number_pair(corpus.random_number(rng, digits)) for _ in range(count)]


def lengths() -> dict[str, Any]:
    """The numerals task as python train.py numerals does it, on ever longer numbers."""
    task = train.TASKS["numerals"]
    pairs = task.pairs("train")
    model = translator.new_translator(pairs, 0, **task.sizes)
    Trainer(model, pairs, pairs[:1], task.settings).train(show=lambda line: None)
    known = {tuple(pair.source) for pair in pairs}
    match, examples = {}, []
    for digits in range(7, 13):
        new = [pair for pair in numbers_of_length(digits, 500) if tuple(pair.source) not in known]
        match[digits] = round(translator.exact_match(model, new)["all"], 4)
        shown = new[:2]
        found = model.translate([pair.source for pair in shown])
        for pair, target in zip(shown, found, strict=True):
            words = [" ".join(pair.source), "".join(pair.target), "".join(target)]
            examples += [words] if digits > 10 else []
    print("lengths:", match, *examples, sep="\n", flush=True)
    return {"match": match, "examples": examples}


def key(variant: str = "") -> str:
    """Of the code that decides the figures, and of how the numerals are trained."""
    task = train.TASKS["numerals"]
    texts = [Path(__file__).read_text("utf-8").partition("# The results\n")[0]]
    texts += [(SNIPPETS / name).read_text("utf-8") for name in MADE_FROM]
    for name, sections in SECTIONS.items():
        of_file = read_sections(SNIPPETS / name)
        texts += [of_file[section] for section in sections]
    parts = [*map(translator.code_only, texts), repr(task.sizes), repr(task.settings)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


# The results


def summary(runs: dict[Job, Run]) -> dict[str, Any]:
    """The best learning rates; the excess of each variant as a ratio to ours; long numbers."""
    best = {name: best_runs(SWEEP, runs, "ablations", name) for name in VARIANTS}
    excess = {name: [run["excess"] for run in of_name] for name, of_name in best.items()}
    others = [name for name in VARIANTS if name != "ours"]
    return {
        "key": key(),
        "steps": SETTINGS.steps,
        "numbers": len(data("train")),
        "held out": len(data("validation")),
        "seconds": round(statistics.median(run["seconds"] for run in runs.values()), 1),
        "best": {name: best_rate(SWEEP, "ablations", name, runs) for name in VARIANTS},
        "comparisons": len(others),
        "ratios": {
            name: ratio_with_interval(excess[name], excess["ours"], len(others)) for name in others
        },
        "lengths": lengths(),
    }


RATES: dict[str, tuple[float, ...]] = dict.fromkeys(VARIANTS, PEAKS)
RATES["the paper's rate"] = PEAKS[:1]  # its schedule has no peak
SWEEP = {"ablations": Task(one, key, lambda run: run["excess"], RATES)}


if __name__ == "__main__":
    run_sweep(RESULTS, SWEEP, summary)
