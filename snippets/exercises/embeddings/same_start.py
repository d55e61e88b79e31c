import torch
from torch import nn


def change(std, factor, optimizer_class):
    """How far one step of rate 0.01 moves the output vector of a token."""
    torch.manual_seed(0)
    embedding = nn.Embedding(9, 512)
    nn.init.normal_(embedding.weight, std=std)
    optimizer = optimizer_class(embedding.parameters(), lr=0.01)
    ids = torch.tensor([[7]])
    before = embedding(ids) * factor
    before.sum().backward()
    optimizer.step()
    return (embedding(ids) * factor - before).norm().item()


root = 512**0.5
for optimizer_class in (torch.optim.SGD, torch.optim.Adam):
    plain = change(1.0, 1.0, optimizer_class)
    scaled = change(1 / root, root, optimizer_class)
    print(f"{optimizer_class.__name__}: {scaled / plain:.1f} times as far")
