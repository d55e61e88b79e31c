import torch

from transformer import sinusoidal_positional_encoding

position = torch.arange(5000).bfloat16()
same = (position[1:] == position[:-1]).nonzero()[0].item()
print("bfloat16 first counts twice at:", same)
print("different positions among 5000:", position.unique().numel())

even = torch.arange(0, 512, 2).bfloat16()
angle = position.unsqueeze(1) * 10000 ** (-even / 512)
counted = torch.stack([angle.sin(), angle.cos()], dim=-1).view(5000, 512)
print("counted in bfloat16, different rows:", len(counted.unique(dim=0)))

stored = sinusoidal_positional_encoding(5000, 512).bfloat16()
print("stored in bfloat16, different rows:", len(stored.unique(dim=0)))
