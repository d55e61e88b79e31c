import torch


def rotate(x, positions, base=10000.0):  # x: (..., n, head_dim)
    even = torch.arange(0, x.size(-1), 2)
    angle = positions.unsqueeze(1) * base ** (-even / x.size(-1))
    cos, sin = angle.cos(), angle.sin()  # (n, head_dim / 2)
    first, second = x[..., 0::2], x[..., 1::2]  # (..., n, head_dim / 2)
    turned = first * cos - second * sin, first * sin + second * cos
    return torch.stack(turned, dim=-1).flatten(-2)  # (..., n, head_dim)


torch.manual_seed(0)
query, key = torch.randn(1, 8), torch.randn(1, 8)
for i, j in (3, 1), (10, 8), (1, 3):
    score = rotate(query, torch.tensor([i])) @ rotate(key, torch.tensor([j])).T
    print(f"query at {i}, key at {j}: {score.item():.4f}")
