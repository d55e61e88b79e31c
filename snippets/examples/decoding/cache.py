import math

import torch

from transformer import causal_mask, scaled_dot_product_attention

torch.manual_seed(2)
x = torch.randn(4, 8)  # four tokens, one by one
w_query, w_key, w_value = torch.randn(3, 8, 2) / math.sqrt(8)  # one head

keys, values = torch.empty(0, 2), torch.empty(0, 2)  # the cache
for token in x:
    query = token @ w_query
    keys = torch.cat([keys, (token @ w_key)[None]])  # one new row
    values = torch.cat([values, (token @ w_value)[None]])
    weights = (query @ keys.T / math.sqrt(2)).softmax(dim=-1)
    print(f"{len(keys)} keys stored, output:", weights @ values)

at_once = x @ w_query, x @ w_key, x @ w_value
print(scaled_dot_product_attention(*at_once, causal_mask(4)[0, 0])[0])
