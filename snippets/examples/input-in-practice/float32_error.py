import math

import torch

from transformer import sinusoidal_positional_encoding

n, d = 20001, 512


def exp_and_log(dtype):
    even = torch.arange(0, d, 2, dtype=dtype)
    frequency = torch.exp(even * (-math.log(10000) / d))
    angle = torch.arange(n, dtype=dtype).unsqueeze(1) * frequency
    return torch.stack([angle.sin(), angle.cos()], dim=-1).view(n, d)


exact = exp_and_log(torch.float64)
all_float32 = (exp_and_log(torch.float32) - exact).abs()
ours = (sinusoidal_positional_encoding(n, d) - exact).abs()
for p in 100, 1000, 5000, 20000:
    print(f"all in float32, up to {p}: {all_float32[: p + 1].max():.2g}")
    print(f"float64 first, up to {p}: {ours[: p + 1].max():.2g}")
