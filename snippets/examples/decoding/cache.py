import math

import torch

from pencil_tables import head_0, x
from transformer import causal_mask, scaled_dot_product_attention

w_query, b_query, w_key, w_value = head_0
keys, values = torch.empty(0, 2), torch.empty(0, 2)  # the cache
for token in x:  # a step: one new token
    query = w_query @ token + b_query
    keys = torch.cat([keys, (w_key @ token)[None]])  # one new row
    values = torch.cat([values, (w_value @ token)[None]])
    weights = (keys @ query / math.sqrt(2)).softmax(dim=-1)
    output = weights @ values
    print("keys stored:", len(keys), "output:", output)

everything = x @ w_query.T + b_query, x @ w_key.T, x @ w_value.T
expected, _ = scaled_dot_product_attention(*everything, causal_mask(5)[0, 0])
print("equal without a cache:", torch.allclose(output, expected[-1]))
