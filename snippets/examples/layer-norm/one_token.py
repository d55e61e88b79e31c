import torch
from torch import nn

x = torch.tensor([[1.0, 3, 3, 9], [0, 0, 0, 4]])  # two tokens
other = torch.tensor([[1.0, 3, 3, 9], [5, 1, 2, 8]])  # another token 1
for name, norm in (
    ("LayerNorm", nn.LayerNorm(4)),
    ("BatchNorm", nn.BatchNorm1d(4)),
):
    for label, tokens in ("", x), (", another token 1", other):
        y = norm(tokens)[0].tolist()
        print(f"{name}, token 0{label}:", [round(n, 2) for n in y])
