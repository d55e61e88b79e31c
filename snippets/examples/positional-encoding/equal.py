from math import cos, sin

import torch

from transformer import sinusoidal_positional_encoding

hands = [[sin(p), cos(p), sin(p / 100), cos(p / 100)] for p in range(5)]
table = sinusoidal_positional_encoding(max_len=5, d_model=4)
print("shape:", tuple(table.shape))
print("the clock hands again:", torch.allclose(table, torch.tensor(hands)))
