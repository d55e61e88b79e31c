import textwrap

import torch

from transformer import MultiHeadAttention, scaled_dot_product_attention

x = torch.randn(5, 64)  # (position, d_k)
for mask in (
    torch.ones(5, 5),
    torch.ones(5, 4, dtype=torch.bool),
    torch.ones(2, 5, 5, dtype=torch.bool),
):
    try:
        scaled_dot_product_attention(x, x, x, mask)
    except (ValueError, RuntimeError) as error:
        print(textwrap.fill(f"{type(error).__name__}: {error}", 70))

try:
    MultiHeadAttention(d_model=512, nhead=7)
except ValueError as error:
    print("ValueError:", error)
