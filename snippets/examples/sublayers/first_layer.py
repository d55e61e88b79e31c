import torch
from torch import nn

for residual in False, True:
    torch.manual_seed(0)  # the same weights both times
    layers = [nn.Linear(64, 64) for _ in range(12)]
    x = torch.randn(64)
    for layer in layers:
        output = layer(x).relu()
        x = (x + output) if residual else output
    x.sum().backward()  # the sum takes the place of the loss
    size = layers[0].weight.grad.abs().mean().item()
    print(f"residual connections {residual}: {size:.6f}")
