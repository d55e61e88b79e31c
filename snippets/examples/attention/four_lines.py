import math

import torch

from transformer import scaled_dot_product_attention


def attention(query, key, value):
    scores = query @ key.transpose(-2, -1)  # (n, m): a row per query
    scores = scores / math.sqrt(query.size(-1))
    weights = scores.softmax(dim=-1)  # each row sums to 1
    return weights @ value, weights


query = torch.tensor([[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]])  # by hand
key = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, -1.0]])
value = torch.tensor([[10.0, 0.0], [0.0, 10.0], [5.0, 5.0]])
output, weights = attention(query, key, value)
print("output of work:", output[1])

expected, _ = scaled_dot_product_attention(query, key, value)
print("equal to the model's function:", torch.allclose(output, expected))
