import torch
from torch import nn

torch.manual_seed(0)
embedding = nn.Embedding(5, 4)
ids = torch.tensor([[2, 3], [0, 3]])  # we work; why work
arriving = torch.randn(2, 2, 4)  # the gradient at each output vector
embedding(ids).backward(arriving)

ours = torch.zeros(5, 4)
for sentence, row in enumerate(ids):
    for position, token in enumerate(row):
        ours[token] += arriving[sentence, position]

print("loop agrees:", torch.allclose(ours, embedding.weight.grad))
used = ours.any(dim=1).nonzero().flatten()
print("rows with a gradient:", used.tolist())

flat = torch.zeros(5, 4).index_add(0, ids.flatten(), arriving.flatten(0, 1))
print("index_add agrees:", torch.allclose(flat, embedding.weight.grad))
