import torch
from torch import nn
from torch.nn.functional import normalize

from transformer import FeedForward, MultiHeadAttention, initialise


def likeness(add, depth=6, d_model=64):
    """Mean cosine between two tokens of a sentence, after each layer."""
    torch.manual_seed(0)
    x, means = torch.randn(8, 16, d_model), []
    for _ in range(depth):
        attention = MultiHeadAttention(d_model, nhead=4)
        network = FeedForward(d_model, 4 * d_model, dropout=0.0)
        nn.ModuleList([attention, network]).apply(initialise)
        y = attention(x, x, x)[0]
        x = x + y if add else y
        x = x + network(x) if add else network(x)
        cosines = normalize(x, dim=-1) @ normalize(x, dim=-1).transpose(1, 2)
        means.append((cosines.sum((1, 2)) - 16).mean().item() / (16 * 15))
    return means


for name, add in ("f(x)", False), ("x + f(x)", True):
    for layer, mean in enumerate(likeness(add), 1):
        print(f"{name}, after layer {layer}: {mean:.2f}")
