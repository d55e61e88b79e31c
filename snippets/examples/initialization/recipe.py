import torch
from torch import nn

from transformer import sinusoidal_positional_encoding


def recipe(module):
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)


torch.manual_seed(0)
embedding = nn.Embedding(1000, 512, padding_idx=0)
attention = nn.MultiheadAttention(512, 8)
nn.ModuleList([embedding, attention]).apply(recipe)

word = embedding.weight.square().mean().sqrt().item()
position = sinusoidal_positional_encoding(100, 512).square().mean().sqrt()
print(f"a word's numbers: {word:.2f}")
print(f"a position's numbers: {position:.2f}")
print(f"position over word: {position / word:.0f}")
print("the padding row is zero:", not embedding.weight[0].any().item())
print(f"output projection: {attention.out_proj.weight.std():.3f}")
print(f"query, key and value: {attention.in_proj_weight.std():.3f}")
