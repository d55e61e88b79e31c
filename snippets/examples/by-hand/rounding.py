import math

import by_hand
import pencil

exact, rounded = by_hand.load(), by_hand.load(decimals=2)
same, largest = 0, 0.0
for pair in pencil.sentences():
    translations = exact.translate(pair.source), rounded.translate(pair.source)
    same += translations == (pair.target, pair.target)
    for one, other in zip(exact.tables, rounded.tables, strict=True):
        for rows in zip(one.values, other.values, strict=True):
            for a, b in zip(*rows, strict=True):
                if math.isfinite(a):  # no score is compared with a mask
                    largest = max(largest, abs(a - b))
print(f"largest difference: {largest:.2f}")
print("sentences:", len(pencil.sentences()))
print("same translation:", same)
