import torch
from torch import nn

from transformer import FeedForward, LayerNorm, MultiHeadAttention


class EncoderLayer(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, nhead)
        self.feed_forward = FeedForward(d_model, dim_feedforward, dropout=0.0)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)

    def forward(self, x, mask=None):
        x = self.norm1(x + self.self_attention(x, x, x, mask)[0])
        return self.norm2(x + self.feed_forward(x))


layers = nn.ModuleList(EncoderLayer(32, 4, 128) for _ in range(6))
x = torch.randn(2, 5, 32)  # two sentences of five words
for layer in layers:
    x = layer(x)
print("memory:", tuple(x.shape))
