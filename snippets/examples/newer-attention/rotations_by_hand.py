import math

import torch

from variants.newer_attention import rotate_first

x = torch.tensor([[2.0, 2.0, 1.0, 1.0]])  # a query and a key
for pairs in (2, 1, 0):
    scores = []
    for distance in (0, 1, 2):
        angle = torch.full((1, pairs), distance * math.pi / 2)  # 90° a token
        score = (rotate_first(x, angle) * x).sum()
        scores.append(str(round(score.item())))
    print(f"{2 * pairs} of 4 rotated: {', '.join(scores)}")
