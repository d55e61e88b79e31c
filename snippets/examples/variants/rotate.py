import torch


def rotate(x, positions, base=10000.0):  # x: (..., n, head_dim)
    even = torch.arange(0, x.size(-1), 2)
    angle = positions.unsqueeze(1) * base ** (-even / x.size(-1))
    cos, sin = angle.cos(), angle.sin()  # (n, head_dim / 2)
    first, second = x[..., 0::2], x[..., 1::2]  # (..., n, head_dim / 2)
    turned = first * cos - second * sin, first * sin + second * cos
    return torch.stack(turned, dim=-1).flatten(-2)  # (..., n, head_dim)


x = torch.tensor([1.0, 0.0, 1.0, 0.0])  # a head with two pairs (1, 0)
for row in rotate(x.expand(3, 4), torch.arange(3)):
    print(*[f"{number:.2f}" for number in row])
