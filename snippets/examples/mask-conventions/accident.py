import textwrap

import torch

from transformer import (
    MultiHeadAttention,
    causal_mask,
    scaled_dot_product_attention,
)

torch.manual_seed(0)
n = nhead = 8
query, key = torch.randn(2, 1, nhead, n, 4)
square = causal_mask(n)[0, 0]  # (n, n)
future = ~square
for name, mask in {
    "right": square[None, None],  # (1, 1, n, n)
    "wrong": square.unsqueeze(1),  # (n, 1, n)
}.items():
    _, weights = scaled_dot_product_attention(query, key, key, mask)
    mass = (weights * future).sum(dim=(-2, -1))[0]
    print(f"{name}, heads 0 to 7: {mass.numpy().round(1)}")
    print(f"{name}, the most of 8: {mass.max():.1f}")

x = torch.randn(1, 10, 32)
try:
    MultiHeadAttention(d_model=32, nhead=nhead)(
        x, x, x, causal_mask(10)[0, 0].unsqueeze(1)
    )
except RuntimeError as error:
    print(textwrap.fill(f"RuntimeError: {error}", 70))
