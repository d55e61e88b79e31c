import torch


def g(k, d=512):  # share of its value at distance 0
    frequency = 10000 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return (torch.as_tensor(k).unsqueeze(-1) * frequency).cos().mean(-1)


for k in 1, 10, 50, 100, 500, 1000, 10000, 100000:
    print(f"g at distance {k}: {g(k):.4f}")

near = g(torch.arange(5000))
rises = (near[1:] > near[:-1]).nonzero().flatten()
print("first rise is from distance:", rises[0].item())
print("rises among the first 1000 steps:", (rises < 1000).sum().item())
print("first negative distance:", (near < 0).nonzero()[0].item())
far = torch.cat([g(part) for part in torch.arange(10**4, 10**5).split(5000)])
print(f"largest from 10000 to 100000: {far.max():.3f}")
print(f"smallest from 10000 to 100000: {far.min():.3f}")

narrow = torch.cat([g(k, d=64) for k in torch.arange(200000).split(20000)])
rises = (narrow[1:] > narrow[:-1]).nonzero()
print("d_model 64, first rise is from distance:", rises[0].item())
print(f"d_model 64, smallest up to 200000: {narrow.min():.3f}")
print("d_model 64, at distance:", narrow.argmin().item())
