"""Trainings on the corpus of catalog_pairs.py: its parts, and one run of each variant.

A run is kept with a key over the code that made it, so that a second call makes only those that
are missing.
"""

import dataclasses
import hashlib
import json
import random
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

import catalog_pairs
import train_pairs
import translator
from batching import example_of
from catalog_pairs import Entry
from metrics import exp, mean_loss, translate_all
from sentence_pairs import Text
from train_pairs import PairSettings, PairTrainer

ROOT = Path(__file__).resolve().parents[3]
SNIPPETS = ROOT / "snippets"
PACKAGES = SNIPPETS / "catalog_packages.txt"
FOLDER = ROOT / ".generated" / "real-corpus"
MADE_BY = ("sentence_pairs.py", "metrics.py", "train_pairs.py", "decode.py", "catalog_pairs.py")

TEST_PACKAGES = {"pretix", "spyder"}
VALIDATION_PACKAGES = {"django-oscar", "nicotine-plus"}
NEAR = 0.2  # edit distance in characters, divided by the length of the longer text
VALIDATION_PAIRS, TEST_PAIRS, SEEN_PAIRS = 500, 1000, 500

MODEL: dict[str, Any] = {"d_model": 128, "layers": 2, "dropout": 0.1}
SETTINGS: dict[str, Any] = {
    "steps": 2000,
    "batch_size": 1024,
    "schedule": "linear",
    "peak": 2e-3,
    "warmup_steps": 200,
    "vocab_size": 4000,
    "every": 200,
}


def result_key(names: Iterable[str], experiment: str) -> str:
    """Of all code that makes the result of an experiment, and of the list of packages."""
    files = (SNIPPETS / name for name in dict.fromkeys((*translator.MADE_BY, *MADE_BY, *names)))
    code = translator.code_key(*files, __file__, experiment)
    return f"{code} {hashlib.sha256(PACKAGES.read_bytes()).hexdigest()}"


def corpus() -> tuple[list[Entry], list[list[str]]]:
    """The pairs, and the table of packages; downloaded if they are not here."""
    key = translator.code_key(SNIPPETS / "catalog_pairs.py") + PACKAGES.read_text("utf-8")
    kept = FOLDER / "corpus.json"
    if kept.exists():
        found = json.loads(kept.read_text("utf-8"))
        if found["key"] == key:
            return [Entry(*row) for row in found["pairs"]], found["table"]
    pairs, table = catalog_pairs.build(PACKAGES, FOLDER)
    text = json.dumps({"key": key, "pairs": pairs, "table": table}, ensure_ascii=False)
    kept.write_text(text, "utf-8")
    return pairs, table


def has_neighbor(sources: list[str], known: list[str]) -> list[bool]:
    """Whether a text has one of the others at an edit distance of at most NEAR."""
    others = [*{text.casefold() for text in known}]
    found: list[bool] = []
    for start in range(0, len(sources), 500):
        distances = process.cdist(  # type: ignore[no-matching-overload]
            [text.casefold() for text in sources[start : start + 500]],
            others,
            scorer=Levenshtein.normalized_distance,
            score_cutoff=NEAR,
            dtype=np.float32,
        )
        found += (distances.min(axis=1) <= NEAR).tolist()
    return found


def split_entries(entries: list[Entry]) -> dict[str, list[Text]]:
    """The pairs of each part by package, without near duplicates between them.

    "seen" has the pairs of the test packages with a neighbor in the training set.
    """
    train, validation, test = [], [], []
    for package, *texts in entries:
        part = train
        if package in TEST_PACKAGES:
            part = test
        elif package in VALIDATION_PACKAGES:
            part = validation
        part.append(Text(*texts))
    sources = [pair.source for pair in train]
    near = has_neighbor([pair.source for pair in validation], sources)
    validation = [pair for pair, close in zip(validation, near, strict=True) if not close]
    near = has_neighbor([pair.source for pair in test], sources)
    seen = [pair for pair, close in zip(test, near, strict=True) if close]
    test = [pair for pair, close in zip(test, near, strict=True) if not close]
    near = has_neighbor([pair.source for pair in test], [pair.source for pair in validation])
    test = [pair for pair, close in zip(test, near, strict=True) if not close]
    return {"train": train, "validation": validation, "test": test, "seen": seen}


def tested(parts: dict[str, list[Text]]) -> dict[str, list[Text]]:
    """What each run translates."""
    return {
        "test": train_pairs.sample(parts["test"], TEST_PAIRS, 0),
        "seen": train_pairs.sample(parts["seen"], SEEN_PAIRS, 0),
    }


def train(parts: dict[str, list[Text]], changes: dict[str, Any]) -> dict[str, Any]:
    """The curve, the translations and the seconds of CPU of one run.

    The changes are options other than those of MODEL and SETTINGS, a seed, and the fraction of
    the training pairs to use.
    """
    torch.set_num_threads(1)
    started = time.process_time()
    options = MODEL | SETTINGS | changes
    names = {field.name for field in dataclasses.fields(PairSettings)}
    settings = PairSettings(**{k: v for k, v in options.items() if k in names})
    pairs = parts["train"]
    if fraction := options.get("fraction"):
        pairs = random.Random(0).sample(pairs, round(fraction * len(pairs)))
    sizes = train_pairs.model_sizes(*(options[name] for name in MODEL))
    held_out = train_pairs.sample(parts["validation"], VALIDATION_PAIRS, 0)
    used = {"train": pairs, "validation": held_out}
    _, subwords, examples, model = train_pairs.prepare(used, settings, sizes)
    trainer = PairTrainer(
        model,
        examples["train"],
        examples["validation"],
        settings,
        subwords=subwords,
    )
    curve = trainer.train()
    seconds = time.process_time() - started
    texts = {}
    for name, part in tested(parts).items():
        sources = [subwords.split(pair.source) for pair in part]
        found = translate_all(model, sources)
        texts[name] = [" ".join(subwords.join(row).split()) for row in found]
    test = [example_of(model, subwords.pair(pair)) for pair in tested(parts)["test"]]
    tokens = sum(len(pair.target) + 1 for pair in examples["train"])
    return {
        "pairs": len(pairs),
        "subwords": len(subwords.tokens),
        "parameters": sum(p.numel() for p in model.model.parameters()),
        "tokens": tokens,
        "curve": [{k: round(v, 5) for k, v in point.items()} for point in curve],
        "perplexity": exp(mean_loss(model.model, test, settings.batch_size)),
        "training seconds": round(seconds, 1),
        "seconds": round(time.process_time() - started, 1),
        "translations": texts,
    }


def training_key() -> str:
    """Of all code that makes a run."""
    names = dict.fromkeys((*translator.MADE_BY, *MADE_BY))
    code = translator.code_key(*(SNIPPETS / name for name in names), __file__)
    return code + PACKAGES.read_text("utf-8")


def run(parts: dict[str, list[Text]], variant: str, changes: dict[str, Any]) -> dict[str, Any]:
    """A run, or the one that is kept with the same key."""
    path = FOLDER / f"{variant.replace(' ', '-')}-{changes['seed']}.json"
    key = [training_key(), changes]
    kept = json.loads(path.read_text("utf-8")) if path.exists() else {}
    if kept.get("key") != key:
        print(f"\n{variant} {changes}", flush=True)
        kept = {"key": key, **train(parts, changes)}
        path.write_text(json.dumps(kept, ensure_ascii=False, indent=1), "utf-8")
    return kept
