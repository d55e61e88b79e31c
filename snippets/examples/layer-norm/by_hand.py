import torch

x = torch.tensor([1.0, 3, 3, 9])
y = 10 * x
for name, token in ("x", x), ("10 x", y):
    mean = token.mean()
    centered = token - mean
    variance = centered.square().mean()
    deviation = variance.sqrt()
    result = centered / deviation
    print(f"{name}, mean:", mean.item())
    print(f"{name}, centered:", centered.tolist())
    print(f"{name}, deviation:", deviation.item())
    print(f"{name}, divided:", [round(n, 2) for n in result.tolist()])
