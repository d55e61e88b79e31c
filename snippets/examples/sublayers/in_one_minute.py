import torch
from torch import nn

torch.manual_seed(0)
feed_forward = nn.Sequential(
    nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)
)


def sublayer(x):
    return x + feed_forward(x)  # the residual connection


x = torch.randn(1, 5, 512)  # five tokens: why do we work ?
print("shape:", list(sublayer(x).shape))

other = x.clone()
other[:, 3] = torch.randn(512)  # another word than work
changed = (sublayer(x) - sublayer(other)).abs().amax(dim=-1) > 1e-6
print("positions that change:", changed[0].nonzero().flatten().tolist())
