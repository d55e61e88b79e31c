import torch

from variants.rotary import rotate


def largest(difference):
    return f"{difference.abs().max().item():.9f}"


torch.manual_seed(0)
query, key = torch.randn(2, 5, 64, dtype=torch.float64)  # 5 tokens, one head
here = torch.arange(5)
before = rotate(query, here) @ rotate(key, here).T
for shift in 1, 100, 100_000:
    after = rotate(query, here + shift) @ rotate(key, here + shift).T
    print(f"all moved by {shift}, scores change by:", largest(after - before))

turned = rotate(query, here + 100)
print("lengths change by:", largest(turned.norm(dim=1) - query.norm(dim=1)))

pairs = torch.view_as_complex(query.view(5, 32, 2))
speed = 10000.0 ** (-torch.arange(0, 64, 2, dtype=torch.float64) / 64)
angle = (here[:, None] + 100) * speed  # (5, 32)
product = torch.view_as_real(pairs * torch.exp(1j * angle)).flatten(1)
print("difference from the complex product:", largest(turned - product))
