import torch
from torch import nn


def layer_norm(x, weight, bias, eps):
    centered = x - x.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)
    return centered * (variance + eps).rsqrt() * weight + bias


x = torch.tensor([[1.0, 3, 3, 9], [0, 0, 0, 4]])  # two tokens
norm = nn.LayerNorm(4)
for name, y in (
    ("formula", layer_norm(x, norm.weight, norm.bias, norm.eps)),
    ("nn.LayerNorm", norm(x)),
):
    for i, token in enumerate(y.tolist()):
        print(f"{name}, token {i}:", [round(number, 3) for number in token])
