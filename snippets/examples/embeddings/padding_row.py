import torch
from torch import nn

torch.manual_seed(0)
embedding = nn.Embedding(9, 4, padding_idx=0)
print("at first:", embedding.weight[0].tolist())

ids = torch.tensor([[6, 7, 0, 0]])
embedding(ids).sum().backward()
print("gradient of row 0:", embedding.weight.grad[0].tolist())
print("gradient of row 6:", embedding.weight.grad[6].tolist())

nn.init.normal_(embedding.weight)
print("zero after normal_:", not embedding.weight[0].any())

with torch.no_grad():
    embedding.weight[0] = 7.0
optimizer = torch.optim.SGD(embedding.parameters(), lr=0.1)
for _ in range(100):
    optimizer.zero_grad()
    (embedding(ids) ** 2).sum().backward()
    optimizer.step()
print("overwritten, then 100 steps:", embedding.weight[0].tolist())
print(f"row 6 after 100 steps: {embedding.weight[6].norm():.3f} long")
