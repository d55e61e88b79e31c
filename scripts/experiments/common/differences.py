"""The largest differences between our models and those of transformers, as a result."""

import json
import platform
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from bookbuild.generated.claim_results import code_key

ROOT = Path(__file__).resolve().parents[3]
SEEDS = 5


def record_differences(
    name: str,
    comparisons: dict[str, Callable[[int], dict[str, float]]],
    files: Iterable[str],
    **more: Any,
) -> None:
    """Write snippets/results/NAME.json, with a key over the files."""
    torch.set_num_threads(1)
    differences: dict[str, dict[str, float]] = {}
    for model, compare in comparisons.items():
        runs = [compare(seed) for seed in range(SEEDS)]
        differences[model] = {what: max(run[what] for run in runs) for what in runs[0]}
        print(model, differences[model], flush=True)
    record = {
        "key": code_key(files),
        "environment": {
            "python": platform.python_version(),
            "torch": version("torch"),
            "transformers": version("transformers"),
        },
        "seeds": SEEDS,
        "differences": differences,
        **more,
    }
    results = ROOT / "snippets" / "results" / f"{name}.json"
    results.write_text(f"{json.dumps(record, indent=1)}\n", encoding="utf-8")
