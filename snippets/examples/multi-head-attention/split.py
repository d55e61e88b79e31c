import torch
import torch.nn.functional as F

from heads import head_0, head_1, x

pairs = zip(head_0, head_1, strict=True)
w_query, w_key, w_value = [torch.cat(pair, dim=-1) for pair in pairs]


def split(rows):  # (3, 4)
    rows = rows.unflatten(-1, (2, 2))  # (3, 2, 2)
    return rows.transpose(0, 1)  # (2, 3, 2)


q, k, v = split(x @ w_query), split(x @ w_key), split(x @ w_value)
outputs = F.scaled_dot_product_attention(q, k, v)  # (2, 3, 2)
joined = outputs.transpose(0, 1).flatten(1)  # (3, 4)
print("joined, work:", joined[1])
