#!/usr/bin/env python3
"""Trains on a file of generated sentence pairs whose English has spelling errors.

usage: own_text.py [--pairs N] [--steps N] [--short N]. The file is written, read and
cleaned as a reader's own, by train_pairs.py, on one thread; then short trainings, with
and without warm-up and clipping. Prints the result; without options also writes it to
snippets/results/own-text.json.
"""

import argparse
import itertools
import json
import math
import os
import platform
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

import phrases
import train_pairs
import translator
from sentence_pairs import Text, read_pairs, split_pairs
from train_pairs import PairSettings, PairTrainer

SNIPPETS = Path(__file__).resolve().parents[2] / "snippets"

RESULTS = SNIPPETS / "results" / "own-text.json"
MADE_BY = ("pair_files.py", "sentence_pairs.py", "metrics.py", "train_pairs.py", "decode.py")
PAIRS, STEPS, SHORT = 50_000, 3000, 200
ERRORS = 0.03  # of the words of more than three letters
MODEL: dict[str, Any] = {"d_model": 128, "layers": 2, "nhead": 4, "dropout": 0.1}
SIZES = train_pairs.model_sizes(**MODEL)
SETTINGS: dict[str, Any] = {
    "vocab_size": 2000,
    "batch_size": 2048,
    "schedule": "linear",
    "peak": 3e-3,
    "warmup_steps": 200,
    "every": 100,
    "bleu_pairs": 0,
}


def misspelled(word: str, rng: random.Random) -> str:
    """The word, perhaps with a letter left out, doubled or exchanged with the next."""
    if len(word) <= 3 or rng.random() >= ERRORS:
        return word
    i = rng.randrange(len(word) - 1)
    before, letter, following, after = word[:i], word[i], word[i + 1], word[i + 2 :]
    changes = [following, 2 * letter + following, following + letter]
    return before + rng.choice(changes) + after


def write_pairs(path: Path, count: int) -> None:
    """Random sentences of all kinds, some of them more than once."""
    rng = random.Random(0)
    kinds = [*phrases.KINDS]
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(count):
            pair = phrases.phrase(rng.choice(kinds), rng)
            source = " ".join(misspelled(word, rng) for word in pair.english.split(" "))
            file.write(f"{source}\t{pair.chinese}\n")


def rounded(curve: list[dict[str, float]]) -> list[dict[str, float]]:
    return [{name: round(value, 5) for name, value in point.items()} for point in curve]


def compare(texts: list[Text], steps: int) -> list[dict]:
    """The curves of short trainings, with and without warm-up and clipping.

    The learning rate falls linearly to nearly 0, after the warm-up or from the first step.
    """
    found = []
    for norm_first, warmup_steps, clip, seed in itertools.product(
        (True, False), (100, 1), (1.0, math.inf), (0, 1)
    ):
        changes: dict[str, Any] = {"warmup_steps": warmup_steps, "clip": clip, "seed": seed}
        changes |= {"steps": steps, "batch_size": 1024, "every": 20, "patience": 99, "average": 100}
        settings = PairSettings(**SETTINGS | changes)
        parts = split_pairs(texts)
        data = train_pairs.prepare(parts, settings, SIZES | {"norm_first": norm_first})
        held_out = train_pairs.sample(data.pairs["validation"], 500, seed)
        trainer = PairTrainer(data.translator, data.pairs["train"], held_out, settings)
        curve = trainer.train()
        print(f"\n{norm_first=} {changes} {curve[-1]}")
        found.append(
            {
                "norm_first": norm_first,
                "warm-up": warmup_steps > 1,
                "clipping": clip < math.inf,
                "seed": seed,
                "curve": rounded(curve),
            }
        )
    return found


def measure(count: int, steps: int, short: int) -> dict:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pairs.tsv")
        write_pairs(file, count)
        texts, dropped = read_pairs(file)
        started = time.process_time()
        options: dict[str, Any] = {**MODEL, **SETTINGS, "steps": steps}
        curve, scores = train_pairs.run_pairs([file], Path(folder), **options)
        seconds = time.process_time() - started
        comparison = compare(texts, short)
    return {
        "lines": count,
        "dropped": {reason: len(numbers) for reason, numbers in dropped.items()},
        "parts": {name: len(part) for name, part in split_pairs(texts).items()},
        "sizes": SIZES,
        "steps": steps,
        "seconds": round(seconds, 1),
        "scores": {name: round(score, 2) for name, score in scores.items()},
        "curve": rounded(curve),
        "short": comparison,
    }


def key() -> str:
    """Of all code that makes the result."""
    files = (*translator.MADE_BY, *MADE_BY)
    return translator.code_key(*(SNIPPETS / name for name in files), __file__)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--short", type=int, default=SHORT)
    options = parser.parse_args()
    environment = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cores": os.cpu_count(),
    }
    result = measure(options.pairs, options.steps, options.short)
    text = json.dumps({"key": key(), "environment": environment, **result}, indent=1)
    print(f"\n{text}")
    if (options.pairs, options.steps, options.short) == (PAIRS, STEPS, SHORT):
        RESULTS.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
