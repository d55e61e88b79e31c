import torch
from torch import nn

from transformer import FeedForward, LayerNorm, MultiHeadAttention, causal_mask


class DecoderLayer(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, nhead)
        self.cross_attention = MultiHeadAttention(d_model, nhead)
        self.feed_forward = FeedForward(d_model, dim_feedforward, dropout=0.0)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.norm3 = LayerNorm(d_model)

    def forward(self, y, memory, mask=None, memory_mask=None):
        y = self.norm1(y + self.self_attention(y, y, y, mask)[0])
        read = self.cross_attention(y, memory, memory, memory_mask)[0]
        y = self.norm2(y + read)
        return self.norm3(y + self.feed_forward(y))


layers = nn.ModuleList(DecoderLayer(32, 4, 128) for _ in range(6))
memory = torch.randn(2, 5, 32)  # of two sentences of five words
y = torch.randn(2, 4, 32)  # four Chinese tokens each, no padding
for layer in layers:
    y = layer(y, memory, causal_mask(4))
print("output:", tuple(y.shape))
