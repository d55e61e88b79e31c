import torch
from torch import nn

from pencil_words import table

ids = torch.tensor([2, 3])  # we work
one_hot = nn.functional.one_hot(ids, num_classes=5).float()
print(one_hot)
print(one_hot @ table)
print("equal to the rows:", torch.equal(one_hot @ table, table[ids]))

embedding = nn.Embedding(5, 4)  # 5 words, 4 numbers each
embedding.weight = nn.Parameter(table)  # a tensor that training changes
print("equal to nn.Embedding:", torch.equal(embedding(ids), table[ids]))
