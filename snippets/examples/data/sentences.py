import random

from phrases import KINDS, phrase

rng = random.Random(6)
for kind in KINDS:
    drawn = phrase(kind, rng)
    print(f"{kind}: {drawn.english}, {drawn.chinese}")
