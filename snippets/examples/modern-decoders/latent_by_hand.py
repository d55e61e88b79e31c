import torch

c = torch.tensor([[3.0, 1.0], [1.0, 1.0]])  # of two tokens: the cache
W = torch.tensor([[1.0, 2.0], [0.0, 1.0]])  # the keys of one head are W c
V = torch.tensor([[1.0, 0.0], [1.0, 2.0]])  # its values are V c
q = torch.tensor([1.0, 1.0])

keys, values = c @ W.T, c @ V.T
print("keys:", keys.tolist())
print("scores:", (keys @ q).tolist())

moved = W.T @ q  # the matrix is applied to the query instead
print("W.T @ q:", moved.tolist())
print("scores without keys:", (c @ moved).tolist())

weights = (c @ moved / 2**0.5).softmax(dim=0)
print("output:", weights @ values)
print("output without values:", V @ (weights @ c))
