import torch
from torch import nn
from torch.nn.functional import cross_entropy

from transformer import EncoderLayer, TransformerConfig, initialize


class NoNorm(EncoderLayer):
    def forward(self, x, mask=None):
        x = x + self.attend(x, mask)
        return x + self.feed_forward(x)


config = TransformerConfig(
    src_vocab_size=10, tgt_vocab_size=10, d_model=32, nhead=4,
    dim_feedforward=128, dropout=0.0,
)  # fmt: skip
for kind in EncoderLayer, NoNorm:
    torch.manual_seed(0)
    encoder = nn.Sequential(*(kind(config) for _ in range(6)))
    output = nn.Linear(32, 10)
    encoder.apply(initialize)
    ids = torch.randint(10, (16, 6))
    x = encoder(torch.randn(10, 32)[ids])
    loss = cross_entropy(output(x).flatten(0, 1), ids.flatten())
    length = x.norm(dim=-1).mean()
    print(f"{kind.__name__}, length of a token: {length:.1f}")
    print(f"{kind.__name__}, first loss: {loss:.1f}")
