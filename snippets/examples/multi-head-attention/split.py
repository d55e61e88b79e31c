import torch
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(1, 5, 8)  # one sentence, five tokens of eight numbers
w_query, w_key, w_value = torch.randn(3, 8, 8)


def split(table):  # (1, 5, 8)
    table = table.unflatten(-1, (2, 4))  # (1, 5, 2, 4)
    return table.transpose(1, 2)  # (1, 2, 5, 4)


q, k, v = split(x @ w_query), split(x @ w_key), split(x @ w_value)
heads = F.scaled_dot_product_attention(q, k, v)  # (1, 2, 5, 4)
joined = heads.transpose(1, 2).flatten(2)  # (1, 5, 8)

outputs = []
for c in slice(0, 4), slice(4, 8):  # the loop, for comparison
    q, k, v = x @ w_query[:, c], x @ w_key[:, c], x @ w_value[:, c]
    outputs.append(F.scaled_dot_product_attention(q, k, v))
loop = torch.cat(outputs, dim=-1)
print("equal to the loop:", torch.allclose(joined, loop, atol=1e-5))
