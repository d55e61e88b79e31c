#!/usr/bin/env python3
"""Our models and those of transformers: the largest differences, and sizes of newer ones.

evidence/hugging_face_models.py makes each comparison, here with several seeds and random weights.
Writes snippets/results/modern.json, with a key over the code of both.
"""

import json
import platform
from importlib.metadata import version
from pathlib import Path

import torch

from bookbuild.generated.claim_results import code_key
from evidence import hugging_face_models, newer_models

ROOT = Path(__file__).resolve().parents[2]

SEEDS = 5
RESULTS = ROOT / "snippets" / "results" / "modern.json"


def main() -> None:
    torch.set_num_threads(1)
    differences: dict[str, dict[str, float]] = {}
    for name, compare in hugging_face_models.all_comparisons().items():
        runs = [compare(seed) for seed in range(SEEDS)]
        differences[name] = {what: max(run[what] for run in runs) for what in runs[0]}
        print(name, differences[name], flush=True)
    record = {
        "key": code_key(hugging_face_models.FILES),
        "environment": {
            "python": platform.python_version(),
            "torch": version("torch"),
            "transformers": version("transformers"),
        },
        "seeds": SEEDS,
        "differences": differences,
        "newer": newer_models.newer_models(),
    }
    RESULTS.write_text(f"{json.dumps(record, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
