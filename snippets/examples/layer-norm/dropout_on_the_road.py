import torch
from torch import nn

torch.manual_seed(0)
dropout = nn.Dropout(0.1)


def silent(x):
    return torch.zeros_like(x)


before = after = torch.ones(100, 512)
for _ in range(12):
    before = before + dropout(silent(before))
    after = dropout(after + silent(after))
print(f"dropped before the sum, lost of x: {(before == 0).double().mean():.0%}")
print(f"dropped after the sum, lost of x: {(after == 0).double().mean():.0%}")
