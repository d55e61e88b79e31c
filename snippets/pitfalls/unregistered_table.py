import torch
from torch import nn

from transformer import sinusoidal_positional_encoding


class WrongPosition(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table = table

    def forward(self, x):
        return x + self.table[: x.size(1)]


class RightPosition(WrongPosition):
    def __init__(self, table):
        nn.Module.__init__(self)
        self.register_buffer("table", table, persistent=False)


table = sinusoidal_positional_encoding(100, 8)
for make in WrongPosition, RightPosition:
    name = make.__name__.removesuffix("Position").lower()
    for kind, to in ("half", torch.float16), ("another device", "meta"):
        model = nn.Sequential(make(table), nn.Linear(8, 8)).to(to)
        x = torch.zeros(1, 5, 8).to(to)
        try:
            print(f"{name}, {kind}: runs, {model(x).dtype}")
        except RuntimeError as error:
            print(f"{name}, {kind}: {error}")
