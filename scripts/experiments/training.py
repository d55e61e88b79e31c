#!/usr/bin/env python3
"""Trains each task with three seeds; keeps the translator of seed 0 and what was measured.

Each training is train.py in a process of its own, on one thread, from reading the data
to the exact match on the test part; its seconds are the processor's, all included.
Writes snippets/translator.safetensors and snippets/results/training.json after each of
them, and leaves out those that are there already, made by this very code.
"""

import itertools
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

import train
import translator

SNIPPETS = Path(__file__).resolve().parents[2] / "snippets"

RUNS = list(itertools.product(train.TASKS, (0, 1, 2)))  # tasks, seeds
PUBLISHED = ("translator", 0)
TRANSLATOR = SNIPPETS / "translator.safetensors"
RESULTS = SNIPPETS / "results" / "training.json"


def key() -> str:
    """Of all code that makes the figures: decoding and this file decide them too."""
    made_by = (SNIPPETS / name for name in translator.MADE_BY)
    return translator.code_key(*made_by, SNIPPETS / "decode.py", __file__)


def done() -> list[dict]:
    """The runs that this code has made, if the translator that it made is there too."""
    try:
        record = json.loads(RESULTS.read_text(encoding="utf-8"))
        about, _ = translator.read_file(TRANSLATOR)
    except (FileNotFoundError, ValueError):
        return []
    fresh = record["key"] == key() and about["key"] == translator.code_key()
    return record["runs"] if fresh else []


def one(task: str, seed: int, folder: Path) -> dict:
    """A run of train.py in this process, which has done nothing else."""
    torch.set_num_threads(1)
    curve, match = train.run_task(task, folder, seed=seed)
    return {
        "task": task,
        "seed": seed,
        "seconds": round(time.process_time(), 1),
        "match": {kind: round(share, 4) for kind, share in sorted(match.items())},
        "curve": [{name: round(value, 5) for name, value in point.items()} for point in curve],
    }


def main() -> None:
    if len(sys.argv) == 4:
        task, seed, folder = sys.argv[1:]
        run = json.dumps(one(task, int(seed), Path(folder)))
        Path(folder, "run.json").write_text(run, encoding="utf-8")
        return
    runs = [] if "--force" in sys.argv else done()
    environment = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cores": os.cpu_count(),
        "threads": 1,
    }
    for task, seed in sorted(RUNS, key=PUBLISHED.__ne__):  # this one first
        if any((run["task"], run["seed"]) == (task, seed) for run in runs):
            continue
        with tempfile.TemporaryDirectory() as folder:
            print(f"\n{task}, seed {seed}", flush=True)
            subprocess.run([sys.executable, __file__, task, str(seed), folder], check=True)
            run = json.loads(Path(folder, "run.json").read_text(encoding="utf-8"))
            if (task, seed) == PUBLISHED:
                shutil.copy(Path(folder) / TRANSLATOR.name, TRANSLATOR)
        runs = sorted([*runs, run], key=lambda run: (run["task"], run["seed"]))
        record = {"key": key(), "environment": environment, "runs": runs}
        text = json.dumps(record, ensure_ascii=False, indent=1)
        RESULTS.write_text(f"{text}\n", encoding="utf-8")
    print()
    for run in runs:
        match = run["match"]
        worst = min(match, key=match.__getitem__)
        print(
            f"{run['task']}, seed {run['seed']}: {run['seconds']} s, "
            f"all {match['all']:.2%}, worst {match[worst]:.2%} ({worst})"
        )


if __name__ == "__main__":
    main()
