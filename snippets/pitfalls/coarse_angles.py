import math

import torch


def wrong_rows(position, d_model):
    even = torch.arange(0, d_model, 2).float()
    frequency = torch.exp(even * (-math.log(10000) / d_model))
    angle = position.float().unsqueeze(1) * frequency  # float32 throughout
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


def right_rows(position, d_model):
    even = torch.arange(0, d_model, 2).double()
    angle = position.double().unsqueeze(1) * 10000 ** (-even / d_model)
    rows = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
    return rows.float()  # rounded once, at the end


for start in 100, 100_000, 10_000_000, 20_000_000:
    position = torch.arange(start, start + 100)
    wrong, right = wrong_rows(position, 512), right_rows(position, 512)
    print(f"wrong at {start}, error: {(wrong - right).abs().max():.1g}")
    print(f"wrong at {start}, different rows: {len(wrong.unique(dim=0))}")
    print(f"right at {start}, different rows: {len(right.unique(dim=0))}")
