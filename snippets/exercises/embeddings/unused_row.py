import torch
from torch import nn


def moved(optimizer_class, **options):
    torch.manual_seed(0)
    embedding = nn.Embedding(9, 4)
    optimizer = optimizer_class(embedding.parameters(), lr=0.1, **options)

    def step(ids):
        optimizer.zero_grad()
        embedding(torch.tensor([ids])).sum().backward()
        optimizer.step()

    step([6, 7])
    before = embedding.weight.detach().clone()
    step([4, 5])  # 6 was used a step ago, 8 never
    change = (embedding.weight - before).abs().amax(dim=1)
    return [token for token in (6, 8) if change[token] > 0]


for name in "SGD", "RMSprop", "Adagrad", "Adam":
    print(f"{name} moves:", moved(getattr(torch.optim, name)))
print("Adam with β = 0 moves:", moved(torch.optim.Adam, betas=(0.0, 0.999)))
print("AdamW moves:", moved(torch.optim.AdamW, weight_decay=0.1))
