import torch
from torch import nn

from transformer import scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, nhead):
        super().__init__()
        self.nhead = nhead
        self.head_dim = d_model // nhead
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        q = self.split(self.query(query))  # (batch, head, n, head_dim)
        k = self.split(self.key(key))
        v = self.split(self.value(value))
        heads, weights = scaled_dot_product_attention(q, k, v, mask)
        joined = heads.transpose(1, 2).flatten(2)  # (batch, n, d_model)
        return self.output(joined), weights

    def split(self, x):
        x = x.unflatten(-1, (self.nhead, self.head_dim))
        return x.transpose(1, 2)  # (batch, head, n, head_dim)


torch.manual_seed(0)
attention = MultiHeadAttention(d_model=512, nhead=8)
x = torch.randn(2, 5, 512)  # two sentences of five tokens
output, weights = attention(x, x, x)
print("output:", tuple(output.shape))
print("weights:", tuple(weights.shape))
count = sum(parameter.numel() for parameter in attention.parameters())
print(f"parameters: {count:,}")
