import torch

for kind in (torch.float8_e4m3fn, torch.float8_e5m2):
    info = torch.finfo(kind)
    numbers = torch.tensor([1.0, 1.1, 1.3, 17.0, 300.0, 0.001])
    rounded = numbers.to(kind).float()
    print(f"{info.dtype}, largest: {info.max:.0f}")
    print(f"{info.dtype}, step after 1: {info.eps}")
    print(f"{info.dtype}, smallest normal: {info.smallest_normal}")
    print(f"{info.dtype}, rounded: {[round(x, 6) for x in rounded.tolist()]}")
