import torch
from torch import nn

from transformer import sinusoidal_positional_encoding


class Encoder(nn.Module):
    def __init__(self, vocab_size, d_model, nhead, count):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.table = sinusoidal_positional_encoding(100, d_model)
        self.layers = [
            nn.TransformerEncoderLayer(d_model, nhead, 4 * d_model)
            for _ in range(count)
        ]

    def forward(self, ids):
        x = self.tokens(ids)  # (batch, position, d_model)
        x = x * x.size(-1) ** 0.5 + self.table[: ids.size(1)]
        for layer in self.layers:
            x = layer(x)
        return x


model = Encoder(vocab_size=9, d_model=32, nhead=4, count=2)
ids = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 8, 4, 5]])
print("shape:", tuple(model(ids).shape))
