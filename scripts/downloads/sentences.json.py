"""Examples for the live translator: two unseen sentences of each kind, and two numbers."""

import json

from corpus import english_tokens, numbers, sentences
from phrases import KINDS

SPLIT = "test"

sentences_by_kind = [[*sentences(kind, SPLIT, 2)] for kind in KINDS]
examples = [
    (" ".join(english_tokens(sentence.english)), sentence.chinese)
    for one_of_each_kind in zip(*sentences_by_kind, strict=True)
    for sentence in one_of_each_kind
]
for pair in numbers(SPLIT, digits=6, draws=5000, held_out=90)[:2]:
    examples.append((" ".join(pair.source), "".join(pair.target)))
print(json.dumps(dict(examples), ensure_ascii=False, indent=0))
