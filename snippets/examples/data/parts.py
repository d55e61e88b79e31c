import random

import corpus
from corpus import PARTS, Vocabulary
from phrases import KINDS, part_of, phrase

data = {part: corpus.translator(part) for part in PARTS}
for part, pairs in data.items():
    print(f"{part}, pairs: {len(pairs)}")
train, test = data["train"], data["test"]
words = Vocabulary(token for pair in train for token in pair.source)
characters = Vocabulary(token for pair in train for token in pair.target)
print("words:", len(words))
print("characters:", len(characters))
print("kinds:", len({pair.kind for pair in train}))
for name, side in ("test sentences", 0), ("their translations", 1):
    known = {(*pair[side],) for pair in train}
    found = sum((*pair[side],) in known for pair in test)
    print(f"{name}, in train: {found}")
print("we work, part:", part_of("我们工作"))
both = [pair for pair in train if {"we", "work"} <= {*pair.source}]
print("we and work in one training sentence:", len(both))

rng = random.Random(0)
drawn = [phrase(kind, rng) for kind in KINDS for _ in range(1000)]
rng.shuffle(drawn)
by_lot, rest = drawn[:1000], drawn[1000:]
known = {phrase.english for phrase in rest}
share = sum(phrase.english in known for phrase in by_lot) / 1000
print(f"random test set, sentence in the rest: {share:.0%}")
known = {fact for phrase in rest for fact in phrase.facts}
share = sum(known.issuperset(phrase.facts) for phrase in by_lot) / 1000
print(f"random test set, all facts in the rest: {share:.0%}")
