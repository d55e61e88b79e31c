#!/usr/bin/env python3
"""Small decoders: with multi-token prediction, with Muon and AdamW, and with checked answers.

evidence/training_decoders.py has the trainings. Three seeds each; both optimizers with the same
peaks of the learning rate. Takes seven minutes on one thread.
Writes snippets/results/training-decoders.json, with a key over the code of both.
"""

import json
import platform
from importlib.metadata import version
from pathlib import Path

import torch

from bookbuild.generated.claim_results import code_key
from evidence import training_decoders as reference

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "snippets" / "results" / "training-decoders.json"
SEEDS = range(3)
PEAKS = (8e-3, 16e-3, 32e-3, 64e-3)


def main() -> None:
    torch.set_num_threads(1)
    rewards = [reference.verifiable_rewards(seed) for seed in SEEDS]
    untrained = reference.verifiable_rewards(0, imitated=0)
    print(rewards, untrained, flush=True)
    tokens = [reference.multi_token(seed) for seed in SEEDS]
    print(tokens, flush=True)
    optimizers = []
    for name in ("AdamW", "Muon"):
        for peak in PEAKS:
            losses = [reference.compare_optimizers(name, peak, seed) for seed in SEEDS]
            optimizers.append({"name": name, "peak": peak, "losses": losses})
            print(optimizers[-1], flush=True)
    record = {
        "key": code_key(reference.FILES),
        "environment": {"python": platform.python_version(), "torch": version("torch")},
        "rewards": rewards,
        "untrained": untrained,
        "optimizers": optimizers,
        "tokens": tokens,
    }
    RESULTS.write_text(f"{json.dumps(record, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
