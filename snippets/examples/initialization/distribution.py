import torch

from transformer import LayerNorm

torch.manual_seed(0)


def skew(x):
    centered = x - x.mean(dim=-1, keepdim=True)
    deviation = centered.square().mean(dim=-1).sqrt()
    return ((centered**3).mean(dim=-1) / deviation**3).mean()


x = torch.empty(4000, 512).exponential_().double()
y = LayerNorm(512).double()(x).detach()
for name, z in ("before", x), ("after", y):
    variance = z.var(dim=-1, correction=0).mean()
    print(f"{name}: mean {z.mean().abs():.2f}, variance {variance:.2f}")
    print(f"skew of a token, {name}: {skew(z):.2f}")
print(f"beyond 3 on either side: {(y.abs() > 3).double().mean():.2%}")
bell = 2 * torch.distributions.Normal(0, 1).cdf(torch.tensor(-3.0))
print(f"beyond 3 in a normal distribution: {bell:.2%}")

for d in 2, 4, 64:
    x = torch.empty(50_000, d).exponential_().double()
    y = LayerNorm(d).double()(x).detach()
    pairs = ~torch.eye(d, dtype=torch.bool)
    mean = y.T.corrcoef()[pairs].mean()
    print(f"d = {d}, correlation of two features: {mean:.3f}")
    print(f"d = {d}, -1 / (d - 1): {-1 / (d - 1):.3f}")
