import math

import torch


def self_attention(x, w_query, w_key, w_value):
    query = x @ w_query
    key = x @ w_key
    value = x @ w_value
    scores = query @ key.transpose(-2, -1)
    scores = scores / math.sqrt(query.size(-1))
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


# a row each for we, work and ?
x = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
w_query = torch.tensor([[-1.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
w_key = torch.tensor([[1.0, -3.0], [-1.0, -1.0], [1.0, 3.0]])
w_value = torch.tensor([[5.0, -5.0], [-5.0, 5.0], [5.0, 5.0]])

output, weights = self_attention(x, w_query, w_key, w_value)
print("weights of work:", weights[1])
print("output of work:", output[1])
