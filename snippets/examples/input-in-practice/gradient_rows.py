import torch
from torch import nn

embedding = nn.Embedding(9, 2)
ids = torch.tensor([[6, 7, 6]])  # we work we
vectors = embedding(ids)  # (1, 3, 2)
arriving = torch.tensor([[[1.0], [2.0], [3.0]]])  # gradient at each position
(vectors * arriving).sum().backward()
print(embedding.weight.grad)

rows = embedding.weight.grad.any(dim=1).nonzero().flatten()
print("rows with a gradient:", rows.tolist())
