import torch
from torch import nn

from transformer import FeedForward

torch.manual_seed(0)
network = FeedForward(d_model=64, dim_feedforward=256).eval()
first, second = nn.Conv1d(64, 256, kernel_size=1), nn.Conv1d(256, 64, 1)
for convolution, linear in (first, network.linear1), (second, network.linear2):
    convolution.weight.data = linear.weight.data.unsqueeze(-1)  # (out, in, 1)
    convolution.bias.data = linear.bias.data

x = torch.randn(2, 5, 64)  # (batch, position, feature)
y = second(first(x.transpose(1, 2)).relu()).transpose(1, 2)
print("two convolutions of width 1 agree:", y.allclose(network(x), atol=1e-5))

wide = nn.Conv1d(64, 256, kernel_size=3, padding=1)
other = x.clone()
other[:, 4] += 1
far = (wide(x.transpose(1, 2)) - wide(other.transpose(1, 2))).abs().amax(1) > 0
print(
    "width 3, positions changed by the last:",
    far[0].nonzero().flatten().tolist(),
)
