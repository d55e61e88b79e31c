import torch
from torch import nn

from transformer import MultiHeadAttention

torch.manual_seed(0)
x = torch.randn(1, 5, 32)


def spread(weights):
    sums = weights.sum(dim=-1)
    return f"{sums.min():.1f} to {sums.max():.1f}"


ours = MultiHeadAttention(d_model=32, nhead=4, dropout=0.5)
theirs = nn.MultiheadAttention(32, 4, dropout=0.5, batch_first=True)
for mode in "training", "evaluation":
    ours.train(mode == "training")
    theirs.train(mode == "training")
    weights = theirs(x, x, x, average_attn_weights=False)[1]
    print(f"{mode}, ours:", spread(ours(x, x, x, need_weights=True)[1]))
    print(f"{mode}, torch.nn:", spread(weights))
