from math import cos, sin

import torch

d = 4
table = torch.zeros(5, d)
for p in range(5):  # position
    for i in range(d // 2):  # pair of columns
        angle = p * 10000 ** (-2 * i / d)
        table[p, 2 * i] = sin(angle)
        table[p, 2 * i + 1] = cos(angle)
print(table)
