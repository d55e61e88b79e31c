import torch
from torch import nn

from transformer import LayerNorm


def layer_norm(x, weight, bias, eps):
    centered = x - x.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)
    return centered * (variance + eps).rsqrt() * weight + bias


x = torch.tensor([[1.0, 3, 3, 9], [0, 0, 0, 4]])  # two tokens
norm = LayerNorm(4)
formula = layer_norm(x, norm.weight, norm.bias, norm.eps)
print("token 0:", [round(n, 2) for n in formula[0].tolist()])
print("token 1:", [round(n, 2) for n in formula[1].tolist()])
print("equal to LayerNorm:", formula.allclose(norm(x)))
print("equal to nn.LayerNorm:", formula.allclose(nn.LayerNorm(4)(x)))
