import torch
from torch import nn

from transformer import MultiHeadAttention

torch.manual_seed(0)
batch = torch.randn(2, 5, 32)  # (batch, position, d_model)
changed = batch.clone()
changed[1] = torch.randn(5, 32)  # another second sentence

for name, attention in (
    ("ours", MultiHeadAttention(d_model=32, nhead=4)),
    ("nn, batch_first=True", nn.MultiheadAttention(32, 4, batch_first=True)),
    ("nn as it comes", nn.MultiheadAttention(32, 4)),
):
    before, weights = attention(batch, batch, batch, need_weights=True)
    after = attention(changed, changed, changed, need_weights=True)[0]
    difference = (before[0] - after[0]).abs().max()
    print(f"{name}, change: {difference:.2f}")
    print(f"{name}, output: {tuple(before.shape)}")
    print(f"{name}, weights: {tuple(weights.shape)}")
