#!/usr/bin/env python3
"""A training of train_pairs.py, and the processor's time of a step of each size, on random pairs
of the corpus.

usage: own_corpus.py. On one thread, about an hour. Prints the result and writes it to
snippets/results/own-corpus.json.
"""

import json
import os
import platform
import random
import shutil
import time
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from threading import Event
from typing import Any

import torch

import train_pairs
from catalog_pairs import write_table
from experiments.common import corpus_runs
from sentence_pairs import Text, read_pairs, split_pairs
from train_pairs import SIZES, PairSettings, PairTrainer, run_pairs

RESULTS = corpus_runs.SNIPPETS / "results" / "own-corpus.json"
PAIRS = 30_000
STEPS = 20  # of each size


def step_seconds(parts: dict[str, list[Text]], size: str) -> float:
    """The processor's seconds of a step, without the first, which also makes Adam's averages."""
    options = SIZES[size]
    batch_size, vocab_size = (options[name] for name in ("batch_size", "vocab_size"))
    settings = PairSettings(steps=STEPS + 1, batch_size=batch_size, vocab_size=vocab_size)
    sizes = train_pairs.model_sizes(*(options[name] for name in ("d_model", "layers", "dropout")))
    data = train_pairs.prepare(parts, settings, sizes)
    trainer = PairTrainer(data.translator, data.pairs["train"], [], settings)
    trainer.model.train()
    ends = [time.process_time() for _ in trainer.steps(Event())]
    return fmean(b - a for a, b in pairwise(ends))


def train(file: Path) -> dict[str, Any]:
    """A training with the settings of the command: its last step, the processor's hours, and the
    scores on the test set."""
    out = corpus_runs.FOLDER / "own"
    shutil.rmtree(out, ignore_errors=True)
    start = time.process_time()
    curve, scores = run_pairs([file], out)
    hours = round((time.process_time() - start) / 3600, 2)
    return {"steps": curve[-1]["step"], "hours": hours, **scores}


def measure() -> dict[str, Any]:
    torch.set_num_threads(1)
    entries, _ = corpus_runs.corpus()
    file = corpus_runs.FOLDER / f"own-{PAIRS}.tsv"
    drawn = random.Random(0).sample(entries, PAIRS)
    write_table(file, [Text(*texts) for _, *texts in drawn])
    texts, _ = read_pairs(file)
    parts = split_pairs(texts)
    return {
        "pairs": PAIRS,
        "parts": {name: len(part) for name, part in parts.items()},
        "sizes": SIZES,
        "seconds a step": {size: round(step_seconds(parts, size), 3) for size in SIZES},
        "trained": train(file),
    }


def key() -> str:
    return corpus_runs.result_key(["pair_files.py"], __file__)


def main() -> None:
    environment = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cores": os.cpu_count(),
        "threads": 1,
    }
    text = json.dumps({"key": key(), "environment": environment, **measure()}, indent=1)
    print(f"\n{text}")
    RESULTS.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
