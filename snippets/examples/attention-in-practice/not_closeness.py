import torch

query = torch.tensor([1.0, 0.0])
keys = torch.tensor([[1.0, 0.0], [5.0, 5.0]])
names = ["the same vector", "a long vector"]

products = keys @ query
distances = (keys - query).norm(dim=-1)
weights = products.softmax(dim=-1)
for i, name in enumerate(names):
    print(f"{name}, product: {products[i]:.0f}")
    print(f"{name}, distance: {distances[i]:.1f}")
    print(f"{name}, weight: {weights[i]:.3f}")

by_distance = (-(distances**2) / 2).softmax(dim=-1)
corrected = (products - keys.square().sum(dim=-1) / 2).softmax(dim=-1)
print("equal once the keys' lengths are taken off:", end=" ")
print(torch.allclose(by_distance, corrected))
