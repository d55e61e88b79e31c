import math

import torch


def self_attention(x, w_query, w_key, w_value):
    query = x @ w_query  # a row per word
    key = x @ w_key
    value = x @ w_value
    scores = query @ key.transpose(-2, -1)
    scores = scores / math.sqrt(query.size(-1))
    weights = scores.softmax(dim=-1)
    return weights @ value


# a row each for we, work and ?
x = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
# from three numbers to two
w_query = torch.tensor([[-1.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
w_key = torch.tensor([[1.0, -3.0], [-1.0, -1.0], [1.0, 3.0]])
w_value = torch.tensor([[5.0, -5.0], [-5.0, 5.0], [5.0, 5.0]])

output = self_attention(x, w_query, w_key, w_value)
print("output of work:", output[1])
