import torch
from torch import nn

embedding = nn.Embedding(5, 4)  # 5 tokens, 4 numbers for each
ids = torch.tensor([[2, 3], [0, 3]])  # we work; why work
x = embedding(ids)
print("ids:", tuple(ids.shape))
print("vectors:", tuple(x.shape))
