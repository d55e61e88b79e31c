import torch
from torch import nn

from transformer import PositionalEncoding, TokenEmbedding

ids = torch.tensor([[4, 5, 6, 7, 8]])  # (batch, position)
wrong = ids.unsqueeze(-1)  # (batch, position, 1)

x = nn.Embedding(9, 512)(wrong)
print("vectors:", tuple(x.shape))
print("with positions:", tuple(PositionalEncoding(512)(x).shape))

try:
    TokenEmbedding(9, 512)(wrong)
except ValueError as error:
    print("error:", error)
