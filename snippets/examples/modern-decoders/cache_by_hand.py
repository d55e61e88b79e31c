import torch

x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])  # 4 tokens
w = torch.tensor([[1.0, 2.0], [0.0, 1.0]])  # computes the keys

computed = 0
for step in range(1, 5):  # the keys of all tokens so far
    keys = x[:step] @ w.T
    computed += len(keys)
print("keys computed without a cache:", computed)

computed, cache = 0, torch.empty(0, 2)
for step in range(4):  # only the key of the new token
    new = x[step : step + 1] @ w.T
    cache = torch.cat([cache, new])
    computed += len(new)
print("keys computed with a cache:", computed)
print("the same keys:", torch.equal(keys, cache))
