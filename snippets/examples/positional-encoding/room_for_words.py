import torch

from transformer import sinusoidal_positional_encoding

for n in 20, 100:
    table = sinusoidal_positional_encoding(n, 512).double()
    share = torch.linalg.svdvals(table).square()
    share = share.cumsum(0) / share.sum()
    needed = (share < 0.99).sum().item() + 1
    print(f"directions that hold 99% of {n} positions: {needed}")
