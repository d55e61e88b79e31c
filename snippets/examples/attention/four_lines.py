import math

import torch


def attention(query, key, value):
    scores = query @ key.transpose(-2, -1)  # a row per query
    scores = scores / math.sqrt(query.size(-1))
    weights = scores.softmax(dim=-1)  # each row sums to 1
    return weights @ value, weights


query = torch.tensor([[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]])  # by hand
key = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, -1.0]])
value = torch.tensor([[10.0, 0.0], [0.0, 10.0], [5.0, 5.0]])
output, weights = attention(query, key, value)
print("weights of work:", weights[1])
