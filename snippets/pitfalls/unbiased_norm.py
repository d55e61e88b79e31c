import torch
import torch.nn.functional as F


def wrong_norm(x, eps=1e-6):
    mean = x.mean(dim=-1, keepdim=True)
    return (x - mean) / (x.std(dim=-1, keepdim=True) + eps)


def right_norm(x, eps=1e-6):
    mean = x.mean(dim=-1, keepdim=True)
    variance = x.var(dim=-1, correction=0, keepdim=True)
    return (x - mean) / (variance + eps).sqrt()


torch.manual_seed(0)
for d in 4, 512:
    x = torch.randn(1000, d)
    expected = F.layer_norm(x, (d,), eps=1e-6)
    off = (wrong_norm(x) / expected - 1).abs().median()
    print(f"wrong, d = {d}, off by: {off:.1%}")
    for norm in wrong_norm, right_norm:
        name = norm.__name__.split("_")[0]
        for places in 1e-2, 1e-5:
            same = torch.allclose(norm(x), expected, places, places)
            print(f"{name}, d = {d}, equal within {places:g}: {same}")
