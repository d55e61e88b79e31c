import torch
from torch import nn

from transformer import MultiHeadAttention, fused_attention


class Attention(nn.Module):
    def __init__(self, d_model, nhead, d_k, d_v):
        super().__init__()
        self.nhead = nhead
        self.query = nn.Linear(d_model, nhead * d_k)
        self.key = nn.Linear(d_model, nhead * d_k)
        self.value = nn.Linear(d_model, nhead * d_v)
        self.output = nn.Linear(nhead * d_v, d_model)

    def split(self, x):
        return x.unflatten(-1, (self.nhead, -1)).transpose(1, 2)

    def forward(self, x):
        q, k, v = (self.split(f(x)) for f in (self.query, self.key, self.value))
        heads, _ = fused_attention(q, k, v)
        return self.output(heads.transpose(1, 2).flatten(2))


torch.manual_seed(0)
x = torch.randn(2, 5, 32)
for nhead, d_k, d_v in (4, 8, 8), (4, 16, 8), (3, 5, 7), (1, 32, 32):
    attention = Attention(32, nhead, d_k, d_v)
    count = sum(p.numel() for p in attention.parameters())
    shape = tuple(attention(x).shape)
    print(f"{nhead} heads, d_k {d_k}, d_v {d_v}: {shape}, {count} parameters")

book = MultiHeadAttention(d_model=32, nhead=4)
attention = Attention(32, nhead=4, d_k=8, d_v=8)
attention.load_state_dict(book.state_dict())
same = torch.allclose(attention(x), book(x, x, x)[0], atol=1e-6)
print("with heads that fill d_model, equal to the book's:", same)
