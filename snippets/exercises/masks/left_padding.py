import torch

from transformer import (
    MultiHeadAttention,
    PositionalEncoding,
    TokenEmbedding,
    padding_mask,
)

torch.manual_seed(0)
embedding = TokenEmbedding(vocab_size=9, d_model=16, padding_idx=0).double()
table = PositionalEncoding(d_model=16).table
attention = MultiHeadAttention(d_model=16, nhead=4).double()
right = torch.tensor([[6, 7, 0, 0, 0]])
left = torch.tensor([[0, 0, 0, 6, 7]])


def attend(ids, position):
    x = embedding(ids) + table[position]
    return attention(x, x, x, padding_mask(ids))[0]


expected = attend(right, torch.arange(5))[:, :2]
counted = (left != 0).cumsum(dim=1) - 1  # 0 at the first real token
for name, position in {
    "positions from the left edge": torch.arange(5),
    "positions from the first token": counted.clamp(min=0),
}.items():
    difference = attend(left, position)[:, 3:] - expected
    print(f"{name}: {difference.abs().max():.9f}")
