import torch
from torch.nn.functional import leaky_relu, relu

from transformer import FeedForward

tokens = torch.tensor([[0.0, 0], [1, 0], [0, 1], [1, 1]])
answers = torch.tensor([[0.0, 0], [1, 0], [1, 0], [0, 1]])  # exactly one, both


def train_networks(width, activation):
    torch.manual_seed(0)
    networks = [FeedForward(2, width) for _ in range(100)]
    w1, b1, w2, b2 = parameters = [  # a hundred of each: 100 networks at once
        torch.stack(same).detach().requires_grad_()
        for same in zip(*(each.parameters() for each in networks), strict=True)
    ]
    optimizer = torch.optim.Adam(parameters, lr=0.05)
    for _ in range(400):
        hidden = activation(
            tokens @ w1.mT + b1.unsqueeze(1)
        )  # (network, 4, width)
        errors = hidden @ w2.mT + b2.unsqueeze(1) - answers
        optimizer.zero_grad()
        errors.square().sum().backward()
        optimizer.step()
    learned = errors.abs().amax(dim=(1, 2)) < 0.1
    silent = (hidden == 0).all(dim=1).any(dim=1)  # a unit is 0 for all four
    return learned, silent


for width in 2, 4, 8, 32:
    learned, silent = train_networks(width, relu)
    print(f"{width} units, of 100 networks learn it:", learned.sum().item())
    failed = (silent & ~learned).sum().item()
    print(f"{width} units, fail and have a silent unit:", failed)
    learned, _ = train_networks(width, leaky_relu)  # 0.01 x below 0
    print(f"{width} units, with leaky ReLU, learn it:", learned.sum().item())
