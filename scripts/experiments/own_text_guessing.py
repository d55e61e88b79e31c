#!/usr/bin/env python3
"""The scores of guessing on the file of own_text.py, without a model.

The subwords of a translation are guessed by how often the training set has them; and the
whole translation is the most frequent one of the training set, or that of the training
sentence that shares the most words with the source.
Writes snippets/results/own-text-guessing.json.
"""

import json
import math
import runpy
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import train_pairs
import translator
from corpus import Pair
from metrics import scores
from sentence_pairs import Text, read_pairs, split_pairs
from train_pairs import PairSettings

SNIPPETS = Path(__file__).resolve().parents[2] / "snippets"

OWN_TEXT = Path(__file__).with_name("own_text.py")
RESULTS = SNIPPETS / "results" / "own-text-guessing.json"
END = "<eos>"


def guessing_loss(train: list[Pair], held_out: list[Pair], tokens: int) -> float:
    """In nats a token: each token is as likely as in the training set, and <eos> is one.

    A token that the training set lacks counts as if it occurred once there, like all others.
    """
    counts = Counter(token for pair in train for token in [*pair.target, END])
    total = counts.total() + tokens
    losses = [
        math.log(total / (counts[token] + 1)) for pair in held_out for token in [*pair.target, END]
    ]
    return sum(losses) / len(losses)


def nearest_targets(train: list[Text], sources: list[str]) -> list[str]:
    """The translation of the training sentence with the largest overlap in words.

    The overlap is the number of common words divided by that of all words of both.
    """
    bags = [frozenset(text.source.split()) for text in train]
    containing = defaultdict(list)
    for i, bag in enumerate(bags):
        for word in bag:
            containing[word].append(i)
    found = []
    for source in sources:
        words = {*source.split()}
        common = Counter(i for word in sorted(words) for i in containing[word])
        best = max(common, key=lambda i: (common[i] / len(words | bags[i]), -i), default=0)
        found.append(train[best].target)
    return found


def key() -> str:
    """Of all code that makes the result."""
    made_by = runpy.run_path(str(OWN_TEXT))["MADE_BY"]
    files = (SNIPPETS / name for name in (*translator.MADE_BY, *made_by))
    return translator.code_key(*files, OWN_TEXT, __file__)


def measure(count: int) -> dict:
    own_text = runpy.run_path(str(OWN_TEXT))
    settings = PairSettings(**own_text["SETTINGS"])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pairs.tsv")
        own_text["write_pairs"](file, count)
        texts, _ = read_pairs(file)
    data = train_pairs.prepare(split_pairs(texts), settings, own_text["SIZES"])
    sample = train_pairs.sample
    held_out = sample(data.pairs["validation"], train_pairs.VALIDATION_PAIRS, settings.seed)
    tested = sample(data.texts["test"], train_pairs.TEST_PAIRS, settings.seed)
    train, tokens = data.pairs["train"], len(data.translator.target)
    references = [text.target for text in tested]
    frequent, _ = Counter(text.target for text in data.texts["train"]).most_common(1)[0]
    nearest = nearest_targets(data.texts["train"], [text.source for text in tested])
    pairs = [data.subwords.pair(text) for text in tested]
    known = {text.target for text in data.texts["train"]}
    return {
        "validation loss": round(guessing_loss(train, held_out, tokens), 4),
        "test loss": round(guessing_loss(train, pairs, tokens), 4),
        "frequent": scores([frequent] * len(tested), references),
        "nearest": scores(nearest, references),
        "targets in training": sum(each in known for each in references) / len(tested),
    }


def main() -> None:
    pairs = runpy.run_path(str(OWN_TEXT))["PAIRS"]
    text = json.dumps({"key": key(), **measure(pairs)}, ensure_ascii=False, indent=1)
    print(text)
    RESULTS.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
