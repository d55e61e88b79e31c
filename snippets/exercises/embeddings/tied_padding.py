import torch
from torch import nn
from torch.nn.functional import cross_entropy

torch.manual_seed(0)
embedding = nn.Embedding(9, 4, padding_idx=0)
output = nn.Linear(4, 9, bias=False)
output.weight = embedding.weight  # one table, two uses

ids = torch.tensor([[4, 5, 6, 7, 8]])
hidden = embedding(ids) + 1.0
answers = torch.tensor([[5, 6, 7, 8, 4]])
cross_entropy(output(hidden).flatten(0, 1), answers.flatten()).backward()

gradient = embedding.weight.grad
print("rows with a gradient:", int(gradient.any(dim=1).sum()))
print("row 0 has a gradient:", bool(gradient[0].any()))

with torch.no_grad():
    embedding.weight -= 0.1 * gradient
print("row 0 is still zero:", not embedding.weight[0].any())
