import torch
from torch import nn

from transformer import PositionalEncoding

right_ids = torch.tensor([[4, 5, 6, 7, 8]])  # why do we work ?
wrong_ids = right_ids.unsqueeze(-1)  # (batch, position, 1)

torch.manual_seed(0)
tokens, linear = nn.Embedding(9, 64), nn.Linear(1, 64)
position = PositionalEncoding(64, dropout=0.0)
for name, x in (
    ("wrong, embedding", tokens(wrong_ids)),
    ("wrong, linear", linear(wrong_ids.float())),
    ("right", tokens(right_ids)),
):
    print(f"{name}, vectors: {tuple(x.shape)}")
    print(f"{name}, with positions: {tuple(position(x).shape)}")
    steps = x.flatten(0, -2).diff(dim=0)  # from word to word
    print(f"{name}, directions: {torch.linalg.matrix_rank(steps)}")
