import torch
from torch import nn

from transformer import LayerNorm

torch.manual_seed(0)
norm, dropout = LayerNorm(4), nn.Dropout(0.5)


def published(x, sublayer):
    x = norm(x)
    return dropout(x + sublayer(x))


def repaired(x, sublayer):
    return x + dropout(sublayer(norm(x)))


x = torch.tensor([1.0, 3, 3, 9])
for block in published, repaired:
    y = block(x, torch.zeros_like)
    print(f"{block.__name__}:", [round(n, 4) + 0.0 for n in y.tolist()])
