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


def left(table):  # after the best matrix for a shift by ten rows
    before, after = table[:-10], table[10:]
    # gelsd copes with columns that hardly change.
    best = torch.linalg.lstsq(before, after, driver="gelsd").solution
    return f"{round((before @ best - after).abs().max().item(), 9):.1g}"


large, small = published(100, 512), published(2000, 16)
for name, table in large.items():
    error, norm = (table - large["right"]).abs(), table.norm(dim=1)
    print(f"{name}, max error: {error.max():.2g}")
    print(f"{name}, mean error: {error.mean():.2g}")
    print(f"{name}, row norms: {norm.min():.2f}–{norm.max():.2f}")
    print(f"{name}, left after the best shift: {left(small[name])}")

for n in 50, 2000:  # fewer rows than columns, and four times as many
    wide = published(n, 512)
    for name in "exponent doubled", "float64, then float32":
        print(f"{name}, left with {n} x 512: {left(wide[name])}")
