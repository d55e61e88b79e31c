import torch

from variants.alibi import ALiBiAttention

torch.manual_seed(0)
attention = ALiBiAttention(64, 4).double()
x = torch.randn(1, 6, 64, dtype=torch.float64)
mirrored = x.flip(1)
full = torch.ones(6, 6, dtype=torch.bool)
halves = torch.stack([full.tril(), full.tril(), full.triu(), full.triu()])
for name, mask in ("all see all", full), ("two heads back, two ahead", halves):
    one = attention(x, x, x, mask)[0]
    other = attention(mirrored, mirrored, mirrored, mask)[0]
    print(f"{name}: {(one - other.flip(1)).abs().max():.2f}")
