import math

from variants.rope_scaling import rope_frequencies

size, base, length, factor = 64, 150000, 4096, 32
for turns in 32, 1:
    ratio = length / (2 * math.pi * turns)
    pair = size * math.log(ratio) / (2 * math.log(base))
    print(f"pair with {turns} turns: {pair:.1f}")
plain, _ = rope_frequencies(size, base)
scaled, vectors = rope_frequencies(
    size, base, "yarn", factor, length, whole_pairs=False
)
for pair in 0, 12, 31:
    print(f"pair {pair}, frequency times: {scaled[pair] / plain[pair]:.2f}")
print(f"queries and keys times: {vectors:.2f}")
print(f"scores times: {vectors**2:.2f}")
