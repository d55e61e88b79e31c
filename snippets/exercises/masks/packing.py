import torch

from transformer import MultiHeadAttention, causal_mask

number = torch.tensor([[0, 0, 0, 0, 0, 1, 1]])  # why do we work ? we work
same = number[:, :, None] == number[:, None, :]  # (batch, query, key)
mask = same[:, None] & causal_mask(7)
print(mask[0, 0].int())

torch.manual_seed(0)
attention = MultiHeadAttention(d_model=16, nhead=4).double()
x = torch.randn(1, 7, 16, dtype=torch.float64)
packed, _ = attention(x, x, x, mask)
for name, part in ("first", slice(0, 5)), ("second", slice(5, 7)):
    y = x[:, part]
    alone, _ = attention(y, y, y, causal_mask(y.size(1)))
    difference = (packed[:, part] - alone).abs().max()
    print(f"{name} sentence, difference: {difference:.9f}")
