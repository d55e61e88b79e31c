"""Sentences to try on the live translator: two of each kind that it never saw in training."""

import json

from corpus import english_tokens, numbers, sentences
from phrases import KINDS

PART = "test"

pairs = [
    (" ".join(english_tokens(phrase.english)), phrase.chinese)
    for kind in KINDS
    for phrase in sentences(kind, PART, 2)
]
some_numbers = numbers(PART, digits=6, draws=5000, held_out=90)[:2]
pairs += [(" ".join(pair.source), "".join(pair.target)) for pair in some_numbers]
print(json.dumps(dict(pairs), ensure_ascii=False, indent=0))
