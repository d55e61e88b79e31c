import math

import torch

from transformer import sinusoidal_positional_encoding


def waves(angle):  # sine in the even columns, cosine in the odd ones
    odd = torch.arange(angle.size(1)) % 2 == 1
    return torch.where(odd, angle.cos(), angle.sin()).double()


def published(n, d):
    p = torch.arange(n, dtype=torch.float64).unsqueeze(1)
    column = torch.arange(d, dtype=torch.float64)
    even = column - column % 2  # 2i, the same for both columns of a pair
    zero_row = waves(p / 10000 ** (2 * column / d))
    zero_row[0] = 0
    float32 = torch.exp(even.float() * (-math.log(10000) / d))
    return {
        "right": waves(p / 10000 ** (even / d)),
        "exponent doubled": waves(p / 10000 ** (2 * column / d)),
        "doubled, row 0 zero": zero_row,
        "base 100": waves(p / 100 ** (even / d)),
        "exp and log in float32": waves(p.float() * float32),
        "float64, then float32": sinusoidal_positional_encoding(n, d).double(),
    }


large, small = published(100, 512), published(2000, 16)
for name, table in large.items():
    error, norm = (table - large["right"]).abs(), table.norm(dim=1)
    print(f"{name}, max error: {error.max():.2g}")
    print(f"{name}, mean error: {error.mean():.2g}")
    print(f"{name}, row norms: {norm.min():.2f}–{norm.max():.2f}")
    before, after = small[name][:-10], small[name][10:]
    # The best of all 16 x 16 matrices; gelsd copes with still columns.
    best = torch.linalg.lstsq(before, after, driver="gelsd").solution
    left = (before @ best - after).abs().max().item()
    print(f"{name}, left after the best shift: {round(left, 9):.1g}")
