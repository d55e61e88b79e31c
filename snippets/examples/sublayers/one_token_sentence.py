import torch

from transformer import MultiHeadAttention

torch.manual_seed(0)
attention = MultiHeadAttention(d_model=2, nhead=1)  # any weights at all
facts = torch.tensor([[0.0, 0], [1, 0], [0, 1], [1, 1]])
x = facts.unsqueeze(1)  # four sentences of one token
f = attention(x, x, x)[0].squeeze(1).detach()
print("f(0, 0) + f(1, 1):", f[0] + f[3])
print("f(1, 0) + f(0, 1):", f[1] + f[2])
