import torch

from transformer import FeedForward

torch.manual_seed(0)
network = FeedForward(d_model=64, dim_feedforward=256).eval()
x = torch.randn(64)

keys, biases = network.linear1.weight, network.linear1.bias
values = network.linear2.weight.T  # (256, 64): a vector for each unit
total = network.linear2.bias
for key, bias, value in zip(keys, biases, values, strict=True):
    total = total + (x @ key + bias).relu() * value
print("256 small vectors added up:", total.allclose(network(x), atol=1e-5))

silent = (network.linear1(x) <= 0).sum()
print("units that add nothing:", silent.item())
