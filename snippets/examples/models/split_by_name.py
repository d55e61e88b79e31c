import torch
from einops import rearrange

x = torch.arange(8).view(1, 2, 4)  # one sentence, two tokens, four features
heads = rearrange(x, "b n (h d) -> b h n d", h=2)
print("tokens:", x[0], sep="\n")
print("head 0:", heads[0, 0], sep="\n")
print("head 1:", heads[0, 1], sep="\n")
