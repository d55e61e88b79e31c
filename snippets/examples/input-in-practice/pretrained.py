import inspect

import torch
from torch import nn

names = list(inspect.signature(nn.Embedding.from_pretrained).parameters)
print("parameters:", names[:3])

vectors = torch.ones(9, 4)
frozen = nn.Embedding.from_pretrained(vectors)
print("trains by default:", frozen.weight.requires_grad)

tuned = nn.Embedding.from_pretrained(vectors, freeze=False, padding_idx=0)
print("row 0 at first:", tuned.weight[0].tolist())
tuned(torch.tensor([[6, 0]])).sum().backward()
torch.optim.SGD(tuned.parameters(), lr=0.1).step()
print("row 0 after a step:", tuned.weight[0].tolist())
print("row 6 after a step:", [round(x, 1) for x in tuned.weight[6].tolist()])
print("row 6 of our own tensor:", [round(x, 1) for x in vectors[6].tolist()])
