import torch
from torch import nn

import transformer
from transformer import FeedForward, LayerNorm, MultiHeadAttention


class DecoderLayer(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, nhead)
        self.cross_attention = MultiHeadAttention(d_model, nhead)
        self.feed_forward = FeedForward(d_model, dim_feedforward, dropout=0.0)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.norm3 = LayerNorm(d_model)

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm1(x + self.self_attention(x, x, x, mask)[0])
        read = self.cross_attention(x, memory, memory, memory_mask)[0]
        x = self.norm2(x + read)
        return self.norm3(x + self.feed_forward(x))


layer = DecoderLayer(d_model=32, nhead=4, dim_feedforward=2048)
memory = torch.randn(2, 5, 32)  # of two sentences of five words
y = torch.randn(2, 4, 32)  # four Chinese tokens each
mask = transformer.causal_mask(4)
print("shape:", tuple(layer(y, memory, mask).shape))

# the class of transformer.py, with the same weights
config = transformer.TransformerConfig(
    src_vocab_size=9, tgt_vocab_size=12, d_model=32, nhead=4, dropout=0.0
)
other = transformer.DecoderLayer(config)
other.load_state_dict(layer.state_dict())
print("equal:", layer(y, memory, mask).equal(other(y, memory, mask)))
