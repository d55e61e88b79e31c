import torch

c = torch.tensor([[3.0, 1.0], [1.0, 1.0]])  # of two tokens: the cache
w_key = torch.tensor([[1.0, 0.0], [2.0, 1.0]])  # of one head
w_value = torch.tensor([[1.0, 1.0], [0.0, 2.0]])
q = torch.tensor([1.0, 1.0])

keys, values = c @ w_key, c @ w_value
print("keys:", keys.tolist())
print("scores:", (keys @ q).tolist())

moved = q @ w_key.T  # the matrix is applied to the query instead
print("q @ w_key.T:", moved.tolist())
print("scores without keys:", (c @ moved).tolist())

weights = (c @ moved / 2**0.5).softmax(dim=0)  # a head has 2 numbers
print("output:", weights @ values)
print("output without values:", (weights @ c) @ w_value)
