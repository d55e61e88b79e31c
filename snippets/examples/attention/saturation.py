import torch

torch.manual_seed(0)
for d_k, divisor in (64, 8), (64, 1), (512, 1):
    query, key = torch.randn(1000, 1, d_k), torch.randn(1000, 64, d_k)
    scores = (query @ key.mT).squeeze(1) / divisor  # (1000, 64)
    weights = scores.softmax(dim=-1).sort(descending=True).values
    slopes = weights * (1 - weights)  # of each weight by its own score
    name = f"d_k = {d_k}, divided by {divisor}"
    print(f"{name}, variance: {scores.var():.2g}")
    print(f"{name}, largest weight: {weights[:, 0].mean():.2f}")
    print(f"{name}, slope of the largest: {slopes[:, 0].mean():.2f}")
    print(f"{name}, median slope: {slopes.median():.0e}")
