"""Sentences to try on the live translator: two of each kind that it never saw in training."""

import json

from corpus import english_tokens, numbers, sentences
from phrases import KINDS

PART = "test"

kinds = [[*sentences(kind, PART, 2)] for kind in KINDS]
pairs = [
    (" ".join(english_tokens(phrase.english)), phrase.chinese)
    for round in zip(*kinds, strict=True)  # one of each kind, then another of each
    for phrase in round
]
for pair in numbers(PART, digits=6, draws=5000, held_out=90)[:2]:
    pairs.append((" ".join(pair.source), "".join(pair.target)))
print(json.dumps(dict(pairs), ensure_ascii=False, indent=0))
