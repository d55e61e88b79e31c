import torch
from torch.linalg import matrix_rank

from transformer import MultiHeadAttention

torch.manual_seed(0)
d_model, nhead = 64, 4
attention = MultiHeadAttention(d_model=d_model, nhead=nhead).double()
x = torch.randn(1, 5, d_model, dtype=torch.float64)
output, weights = attention(x, x, x, need_weights=True)

to_query = attention.query.weight.chunk(nhead)  # each (head_dim, d_model)
to_key = attention.key.weight.chunk(nhead)
to_value = attention.value.weight.chunk(nhead)
from_head = attention.output.weight.chunk(nhead, dim=1)  # (d_model, head_dim)

total = attention.output(attention.value.bias)  # what the biases add
maps = [a @ b for a, b in zip(from_head, to_value, strict=True)]
for head, carried in enumerate(maps):
    total = total + weights[:, head] @ x @ carried.T
print("the heads' maps add up to the output:", torch.allclose(total, output))
print("size of such a map:", tuple(maps[0].shape))
print("its rank:", matrix_rank(maps[0]).item())
print("rank of W^Q (W^K)^T:", matrix_rank(to_query[0].T @ to_key[0]).item())
for heads in 1, 4, 16:
    layer = MultiHeadAttention(d_model=d_model, nhead=heads)
    count = sum(p.numel() for p in layer.parameters())
    print(f"parameters with {heads} heads: {count:,}")
