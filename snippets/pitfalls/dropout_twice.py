import torch
from torch import nn

from transformer import PositionalEncoding


class WrongInput(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.position = PositionalEncoding(d_model, dropout=0.1)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.dropout(self.position(x))


class RightInput(WrongInput):
    def forward(self, x):
        return self.position(x)  # drops out already


torch.manual_seed(0)
for module in WrongInput(512), RightInput(512):
    name = type(module).__name__.removesuffix("Input").lower()
    module.position.table.fill_(1.0)  # ones alone go through
    x = module(torch.zeros(32, 100, 512))
    values = [f"{value:.2f}" for value in x.unique().tolist()]
    print(f"{name}, zeros: {(x == 0).double().mean():.1%}")
    print(f"{name}, what became of ones: {' '.join(values)}")
    print(f"{name}, variance added: {x.var():.2f}")
