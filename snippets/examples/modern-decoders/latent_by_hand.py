import torch

cache = torch.tensor([[3.0, 1.0], [1.0, 1.0]])  # c of two tokens
w_key = torch.tensor([[1.0, 0.0], [2.0, 1.0]])  # of one head
q = torch.tensor([1.0, 1.0])

keys = cache @ w_key
print("keys:", keys.tolist())
print("scores:", (keys @ q).tolist())

query_for_c = q @ w_key.T  # once, instead of a key for each token
print("q @ w_key.T:", query_for_c.tolist())
print("scores without keys:", (cache @ query_for_c).tolist())
