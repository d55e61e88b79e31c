import torch
from torch import nn

from transformer import causal_mask, padding_mask

torch.manual_seed(0)
batch, nhead, n = 2, 4, 5
attention = nn.MultiheadAttention(
    embed_dim=16, num_heads=nhead, batch_first=True
)
x = torch.randn(batch, n, 16)
ids = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 0, 0, 0]])
causal, padding = causal_mask(n), padding_mask(ids)
expected, _ = attention(
    x, x, x, key_padding_mask=ids == 0, attn_mask=~causal[0, 0]
)

ignore = ~(causal & padding)[:, 0]  # (batch, n, n)
for name, mask in {
    "expand": ignore[:, None].expand(-1, nhead, -1, -1).flatten(0, 1),
    "repeat_interleave": ignore.repeat_interleave(nhead, dim=0),
    "repeat": ignore.repeat(nhead, 1, 1),
}.items():
    output, _ = attention(x, x, x, attn_mask=mask)
    difference = (output - expected).abs().max()
    print(f"{name}, {tuple(mask.shape)}: {difference:.5f}")
