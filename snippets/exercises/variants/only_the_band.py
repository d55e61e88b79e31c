import torch
import torch.nn.functional as F

from transformer import causal_mask, scaled_dot_product_attention
from variants.window import sliding_window_mask

torch.manual_seed(0)
n, d, window = 1000, 16, 50
query, key, value = torch.randn(3, n, d, dtype=torch.float64)
mask = (sliding_window_mask(n, window) & causal_mask(n))[0, 0]
expected, _ = scaled_dot_product_attention(query, key, value, mask)

before = window - 1
near = F.pad(key, (0, 0, before, 0)).unfold(0, window, 1)  # (n, d, window)
there = torch.arange(n)[:, None] + torch.arange(window) >= before
scores = (query.unsqueeze(1) @ near).squeeze(1) / d**0.5  # (n, window)
weights = scores.masked_fill(~there, -torch.inf).softmax(dim=-1)
near = F.pad(value, (0, 0, before, 0)).unfold(0, window, 1)
output = (near @ weights.unsqueeze(-1)).squeeze(-1)  # (n, d)

print(f"difference: {(output - expected).abs().max():.9f}")
print(f"scores with the mask: {n * n:,}")
print(f"scores in the band: {scores.numel():,}")
