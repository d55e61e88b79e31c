import torch

W = torch.tensor([[1.0, 2.0], [0.0, 1.0]])  # computes a key
cache = torch.tensor([[3.0, 1.0], [1.0, 1.0]])  # c of two tokens
q = torch.tensor([1.0, 1.0])

keys = cache @ W.T
print("keys:", keys.tolist())
print("scores, query and keys:", (keys @ q).tolist())

moved = W.T @ q
print("query times the transpose:", moved.tolist())
print("scores, directly with c:", (cache @ moved).tolist())

turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]])  # by 90 degrees
print("query for keys turned by 90 degrees:", ((turn @ W).T @ q).tolist())
