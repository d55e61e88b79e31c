import torch
from torch import nn

from transformer import LayerNorm
from variants.rmsnorm import RMSNorm

torch.manual_seed(0)
x = torch.randn(3, 8, dtype=torch.float64) + 5
layer, rms = LayerNorm(8).double(), RMSNorm(8).double()
centered = x - x.mean(dim=-1, keepdim=True)
print("RMSNorm after centering:", rms(centered).allclose(layer(x)))

linear = nn.Linear(8, 8).double()
before = layer(linear(x))
with torch.no_grad():
    linear.weight.sub_(linear.weight.mean(dim=0))
    linear.bias.sub_(linear.bias.mean())
print(
    "with the mean taken out of the weights:", rms(linear(x)).allclose(before)
)
