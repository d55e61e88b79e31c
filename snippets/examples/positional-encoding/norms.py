import torch
from torch import nn

from transformer import TokenEmbedding, sinusoidal_positional_encoding

torch.manual_seed(0)
d = 512
table = sinusoidal_positional_encoding(5000, d)
print(f"a row of the table, shortest: {table.norm(dim=-1).min():.2f}")
print(f"a row of the table, longest: {table.norm(dim=-1).max():.2f}")

ids = torch.arange(1000).unsqueeze(0)
ours = TokenEmbedding(1000, d)
rows = {
    "nn.Embedding, N(0, 1)": nn.Embedding(1000, d)(ids),
    "ours before the scale, N(0, 1 / d)": ours.embedding(ids),
    "ours, times √d": ours(ids),
    "N(0, 0.02²)": torch.randn(1000, d) * 0.02,
}
for name, vectors in rows.items():
    norm = vectors.norm(dim=-1).mean()
    print(f"{name}: {norm:.2f}")
print(f"the table is longer than the last by a factor of: {16 / norm:.0f}")
