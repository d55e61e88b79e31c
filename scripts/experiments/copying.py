#!/usr/bin/env python3
"""Texts copied by one trained layer: with attention, a sum or the delta rule.

Trains on texts of several lengths, three seeds each, on one thread, in all about ten minutes.
Writes snippets/results/copying.json.
"""

import json
import platform
from pathlib import Path

import torch

import translator
from variants import copying, delta_rule

SNIPPETS = Path(__file__).resolve().parents[2] / "snippets"
RESULTS = SNIPPETS / "results" / "copying.json"
LENGTHS, MIXES, SEEDS = (8, 16, 32, 64, 128), ("sum", "delta rule", "attention"), (0, 1, 2)


def key() -> str:
    return translator.code_key(str(copying.__file__), str(delta_rule.__file__), __file__)


def main() -> None:
    torch.set_num_threads(1)
    runs = []
    for n in LENGTHS:
        for mix in MIXES:
            for seed in SEEDS:
                runs.append(
                    {"mix": mix, "n": n, "seed": seed, "copied": copying.train(n, mix, seed)}
                )
                print(runs[-1], flush=True)
    record = {
        "key": key(),
        "environment": {"python": platform.python_version(), "torch": torch.__version__},
        "tokens": copying.TOKENS,
        "width": copying.WIDTH,
        "steps": copying.STEPS,
        "runs": runs,
    }
    RESULTS.write_text(f"{json.dumps(record, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
