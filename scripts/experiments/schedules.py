#!/usr/bin/env python3
"""The paper's learning rate and ours, and each with the peak of the other.

Trains on numbers of at most six digits, 500 steps with 100 steps of warm-up: with the peak of
the paper's formula and with ours, decreased as the formula does and in a straight line.
Writes snippets/results/schedules.json.
"""

import functools
import json
from pathlib import Path

import torch

import corpus
import train
import trainer
import translator
from corpus import Pair

SNIPPETS = Path(__file__).resolve().parents[2] / "snippets"

RESULTS = SNIPPETS / "results" / "schedules.json"
STEPS, WARM_UP, OURS, SEEDS = 500, 100, 0.004, (0, 1)


@functools.cache
def data(part: str) -> list[Pair]:
    """Numbers of at most six digits."""
    return corpus.numbers(part, 6, draws=20_000, held_out=1000)


def root_learning_rate(step: int, peak: float, warmup_steps: int, steps: int) -> float:
    """The paper's formula, scaled to this peak."""
    return peak * min(step / warmup_steps, (warmup_steps / step) ** 0.5)


SCHEDULES = {"root": root_learning_rate, "straight": trainer.linear_learning_rate}


def run(schedule: str, peak: float, seed: int) -> float:
    """The fraction of the held-out numbers that is translated correctly."""
    pairs, held_out = data("train"), data("validation")
    settings = trainer.Settings(steps=STEPS, warmup_steps=WARM_UP, peak=peak, seed=seed)
    model = translator.new_translator(pairs, seed, **train.SIZES)
    before = trainer.linear_learning_rate
    trainer.linear_learning_rate = SCHEDULES[schedule]
    try:
        trainer.Trainer(model, pairs, held_out[:1], settings).train(show=lambda line: None)
    finally:
        trainer.linear_learning_rate = before
    return translator.exact_match(model, held_out)["all"]


def key() -> str:
    """Of all code that makes the result."""
    files = (SNIPPETS / name for name in (*translator.MADE_BY, "decode.py"))
    return translator.code_key(*files, __file__)


def main() -> None:
    torch.set_num_threads(1)
    d_model = train.SIZES["d_model"]
    papers = trainer.noam_learning_rate(WARM_UP, d_model, WARM_UP)
    runs = [
        {"schedule": schedule, "peak": name, "seed": seed, "match": run(schedule, peak, seed)}
        for schedule in SCHEDULES
        for name, peak in {"paper": papers, "ours": OURS}.items()
        for seed in SEEDS
    ]
    record = {"key": key(), "steps": STEPS, "warm-up": WARM_UP, "runs": runs}
    text = json.dumps(record, indent=1)
    print(text)
    RESULTS.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
