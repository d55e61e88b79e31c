import torch
from torch import nn
from torch.nn.functional import one_hot

table = torch.tensor(
    [
        [0.0, 0.0, 0.0],
        [0.1, 0.2, 0.3],
        [0.4, 0.5, 0.6],
        [0.7, 0.8, 0.9],
    ]
)  # (vocab_size, d_model)
ids = torch.tensor([2, 1, 2])
picks = one_hot(ids, num_classes=4).float()  # (position, vocab_size)
print(picks)
print(picks @ table)  # (position, d_model)

lookup = nn.Embedding(4, 3)
lookup.weight = nn.Parameter(table)
print("product equals rows:", torch.equal(picks @ table, table[ids]))
print("product equals nn.Embedding:", torch.equal(picks @ table, lookup(ids)))
