import math

import torch

from transformer import sinusoidal_positional_encoding


def broken(n, d):
    table = torch.zeros(n, d)
    for p in range(n):
        for i in range(0, d, 2):
            table[p, i] = math.sin(p / 10000 ** (2 * i / d))
            table[p, i + 1] = math.cos(p / 10000 ** (2 * (i + 1) / d))
    return table


def repaired(n, d):
    table = torch.zeros(n, d)
    for p in range(n):
        for i in range(0, d, 2):
            table[p, i] = math.sin(p / 10000 ** (i / d))
            table[p, i + 1] = math.cos(p / 10000 ** (i / d))
    return table


right = sinusoidal_positional_encoding(50, 16)
print(f"broken: {(broken(50, 16) - right).abs().max():.4f}")
print(f"repaired: {(repaired(50, 16) - right).abs().max():.4f}")
