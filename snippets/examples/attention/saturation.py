import torch

torch.manual_seed(0)
for d_k, divisor in (64, 8), (64, 1):
    query, key = torch.randn(1000, 1, d_k), torch.randn(1000, 64, d_k)
    scores = (query @ key.mT).squeeze(1) / divisor  # (1000, 64)
    weights = scores.softmax(dim=-1)
    slopes = weights * (1 - weights)  # of each weight by its own score
    largest = weights.amax(dim=-1).mean()
    print(f"divided by {divisor}, largest weight: {largest:.2f}")
    print(f"divided by {divisor}, median slope: {slopes.median():.0e}")
