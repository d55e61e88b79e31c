from math import cos, sin

import torch

from transformer import sinusoidal_positional_encoding

d = 4
table = torch.zeros(5, d)
for p in range(5):
    for i in range(d // 2):
        angle = p * 10000 ** (-2 * i / d)
        table[p, 2 * i] = sin(angle)
        table[p, 2 * i + 1] = cos(angle)
print(table)

fast = sinusoidal_positional_encoding(max_len=5, d_model=d)
print("equal to the function:", torch.allclose(table, fast))
