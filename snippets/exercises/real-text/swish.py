import torch

from variants.marian import SwishFeedForward

network = SwishFeedForward(d_model=1, dim_feedforward=1).eval()
for linear in network.linear1, network.linear2:
    torch.nn.init.ones_(linear.weight)
    torch.nn.init.zeros_(linear.bias)
for z in 1.0, -1.0, -5.0:
    print(f"swish({z:g}): {network(torch.tensor([[[z]]])).item():.3f}")
