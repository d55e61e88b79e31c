import torch
from torch import nn

from transformer import TokenEmbedding, sinusoidal_positional_encoding

torch.manual_seed(0)
vocab_size, d_model = 5000, 512
position = sinusoidal_positional_encoding(vocab_size, d_model)
default = nn.Embedding(vocab_size, d_model).weight
ours = TokenEmbedding(vocab_size, d_model).embedding.weight
for name, rows in (
    ("position", position),
    ("N(0, 1)", default),
    ("N(0, 1) times root d", default * d_model**0.5),
    ("N(0, 1/d)", ours),
    ("N(0, 1/d) times root d", ours * d_model**0.5),
):
    print(f"{name}: {rows.norm(dim=-1).mean():.1f}")
