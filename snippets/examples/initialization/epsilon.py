import torch

x = torch.tensor([1.0, 3, 3, 9], dtype=torch.float64)  # deviation 3
eps = 1e-5
for factor in 1, 1e-2, 1e-3, 1e-4:
    centered = factor * (x - x.mean())
    variance = centered.square().mean()
    inside = centered / (variance + eps).sqrt()
    outside = centered / (variance.sqrt() + eps)
    for name, y in ("inside", inside), ("outside", outside):
        left = y.std(correction=0)
        print(f"deviation {3 * factor:g}, eps {name}, becomes: {left:.4f}")

for d in 4, 64, 512:
    y = torch.randn(d, generator=torch.Generator().manual_seed(0))
    ratio = y.std(correction=0) / y.std()
    print(f"d = {d}, the unbiased deviation makes it: {ratio:.4f}")
