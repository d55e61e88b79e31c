import torch
from torch import nn

from transformer import PositionalEncoding

torch.manual_seed(0)
x = torch.randn(32, 100, 512)
module = PositionalEncoding(512, dropout=0.1)
again = nn.Dropout(0.1)


def zeros(values):
    return f"{(values == 0).double().mean():.1%}"


print("after the module:", zeros(module(x)))
print("after a second dropout:", zeros(again(module(x))))
print("in evaluation:", zeros(module.eval()(x)))
