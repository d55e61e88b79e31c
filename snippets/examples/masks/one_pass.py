import math

import torch


def attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)  # hide where False
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
mask = torch.ones(3, 3, dtype=torch.bool).tril()  # the lower triangle
output, weights = attention(x, x, x, mask)
print(weights)

for n in 1, 2, 3:  # n tokens, and no mask
    alone, _ = attention(x[:n], x[:n], x[:n])
    same = torch.allclose(alone[-1], output[n - 1])
    print(f"last row of pass {n} equals row {n - 1}:", same)
