#!/usr/bin/env python3
"""What dropout does with few examples, and what Adam does against gradient descent.

Trains small models for numbers of at most six digits, 300 steps and three seeds each, in all
about two minutes. Writes snippets/results/remedies.json.
"""

import json
import random
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import torch

import corpus
import train
import trainer
import translator

SNIPPETS = Path(__file__).resolve().parents[2] / "snippets"

RESULTS = SNIPPETS / "results" / "remedies.json"
STEPS, SEEDS, FEW, DROPOUT = 300, (0, 1, 2), 100, 0.1
RATES = (0.1, 0.3, 1.0, 3.0)  # of gradient descent


def key() -> str:
    """Of all code that makes the result."""
    files = (SNIPPETS / name for name in (*translator.MADE_BY, "decode.py"))
    return translator.code_key(*files, __file__)


def main() -> None:
    torch.set_num_threads(1)
    pairs, held_out = (
        corpus.numbers(part, 6, draws=20_000, held_out=1000) for part in ("train", "validation")
    )
    few = random.Random(0).sample(pairs, FEW)
    task = train.TASKS["numerals"]

    def run(name: str, seed: int, dropout: float = 0.0, rate: float | None = None) -> dict:
        """The fractions that a model translates correctly; Adam unless there is a rate."""
        examples = pairs if name in ("Adam", "gradient descent") else few
        model = translator.new_translator(pairs, seed, **task.sizes | {"dropout": dropout})
        settings = replace(
            task.settings, steps=STEPS, batch_size=32, peak=rate or task.settings.peak, seed=seed
        )
        made: Any = trainer.Trainer(model, examples, [], settings)  # its optimizer may change
        if rate:
            made.optimizer = torch.optim.SGD(made.model.parameters(), lr=rate)
        for _ in made.steps(Event()):
            pass
        made.model.eval()
        seen, new = (translator.exact_match(model, each)["all"] for each in (few, held_out))
        result = {"name": name, "seed": seed, "rate": rate, "training": seen, "new": new}
        print(result, flush=True)
        return result

    runs = []
    for seed in SEEDS:
        runs += [run("no dropout", seed), run("dropout", seed, dropout=DROPOUT)]
        runs.append(run("Adam", seed))
        runs += [run("gradient descent", seed, rate=rate) for rate in RATES]
    record = {"key": key(), "steps": STEPS, "few": FEW, "dropout": DROPOUT, "runs": runs}
    RESULTS.write_text(f"{json.dumps(record, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
