import math


def least(smoothing, vocab_size):
    """The entropy of the smoothed target: no model can be better."""
    rest = smoothing / vocab_size
    right = 1 - smoothing + rest
    return -right * math.log(right) - (vocab_size - 1) * rest * math.log(rest)


print(f"4 tokens: {least(0.1, 4):.3f}")
print(f"18 tokens: {least(0.1, 18):.3f}")
print(f"314 tokens: {least(0.1, 314):.3f}")  # the translator
print(f"37000 tokens: {least(0.1, 37000):.3f}")
right = 0.9 + 0.1 / 314
print(f"314 tokens, the right one gets: {right:.4f}")
print(f"314 tokens, its loss: {-math.log(right):.3f}")
print(f"314 tokens, the others get: {1 - right:.4f}")
print(f"314 tokens, the loss of each: {-math.log(0.1 / 314):.3f}")
