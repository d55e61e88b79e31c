import random

from phrases import phrase

rng = random.Random(3440)
for kind in "statement", "negation", "why", "past", "count", "relative":
    drawn = phrase(kind, rng)
    print(f"{kind}: {drawn.english}, {drawn.chinese}")
