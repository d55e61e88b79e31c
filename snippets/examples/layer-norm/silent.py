import torch
from torch import nn

norm = nn.LayerNorm(4)


def f(x):  # a sublayer that adds nothing
    return torch.zeros_like(x)


def show(name, values):
    rounded = [round(number, 2) for number in values.tolist()]
    print(f"{name}:", rounded)


x = torch.tensor([1.0, 3, 3, 9])
show("post-norm", norm(x + f(x)))
show("pre-norm", x + f(norm(x)))
