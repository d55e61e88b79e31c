import torch

experts = [
    lambda x: 8 * x,
    lambda x: 16 * x,
    lambda x: 5 * x,
    lambda x: 2 * x,
]
p = torch.tensor([0.5, 0.3, 0.15, 0.05])  # from the router
x = 1.0

largest, chosen = p.topk(2)
weights = largest / largest.sum()
print("chosen experts:", chosen.tolist())
print(f"their weights: {weights[0]:.3f} {weights[1]:.3f}")
y = sum(w * experts[i](x) for w, i in zip(weights, chosen, strict=True))
print(f"output: {y:.1f}")
