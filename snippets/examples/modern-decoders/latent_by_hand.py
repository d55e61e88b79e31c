import torch

w = torch.tensor([[1.0, 2.0], [0.0, 1.0]])  # computes the key
c = torch.tensor([3.0, 1.0])  # in the cache
q = torch.tensor([1.0, 1.0])

k = w @ c
print("key:", k.tolist())
print("score, query and key:", (q @ k).item())

moved = w.T @ q
print("query times the transpose:", moved.tolist())
print("score, directly with c:", (moved @ c).item())

turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]])  # by 90 degrees
print("score, rotated key:", (q @ (turn @ k)).item())
print("query for this rotation:", ((turn @ w).T @ q).tolist())
