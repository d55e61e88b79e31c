import torch

even = torch.arange(0, 512, 2, dtype=torch.float64)
pairs = 10000 ** (-even / 512)  # 256 frequencies
u = (torch.arange(1_000_000, dtype=torch.float64) + 0.5) / 1_000_000
many = 10000**-u  # as many as one likes: the integral

for k in 10, 100, 1000, 100000:
    print(f"k = {k}, 256 pairs: {(k * pairs).cos().mean():.4f}")
    print(f"k = {k}, integral: {(k * many).cos().mean():.4f}")
