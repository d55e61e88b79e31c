import math

import torch


def turn(x, degrees):
    """The vector x of two numbers, turned by an angle."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return torch.stack([x[0] * cos - x[1] * sin, x[0] * sin + x[1] * cos])


query, key = torch.tensor([1.0, 0.0]), torch.tensor([1.0, 0.0])
step = 30  # degrees for each position
print("query at 3, turned by 90:", turn(query, 3 * step).round(decimals=2))
print("key at 1, turned by 30:", turn(key, 1 * step).round(decimals=2))
for i, j in (3, 1), (10, 8), (24, 0):
    score = turn(query, i * step) @ turn(key, j * step)
    print(f"query at {i}, key at {j}, score: {score:.2f}")
