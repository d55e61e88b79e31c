import torch
from torch import nn

embedding = nn.Embedding(4, 4)  # 4 words, 4 random numbers each
ids = torch.tensor([1, 3])  # we work
one_hot = nn.functional.one_hot(ids, num_classes=4).float()
print(one_hot)
product = one_hot @ embedding.weight
print("equal to the lookup:", torch.equal(product, embedding(ids)))
