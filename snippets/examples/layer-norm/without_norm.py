import torch
from torch import nn
from torch.nn.functional import cross_entropy

from transformer import Encoder, Residual, TransformerConfig, initialize


class NoNorm(Residual):
    def forward(self, x, sublayer):
        return x + sublayer(x)


config = TransformerConfig(
    src_vocab_size=10, tgt_vocab_size=10, d_model=32, nhead=4,
    dim_feedforward=128, dropout=0.0,
)  # fmt: skip
for kind in Residual, NoNorm:
    torch.manual_seed(0)
    encoder, output = Encoder(config), nn.Linear(32, 10)
    for layer in encoder.layers:
        layer.residuals = nn.ModuleList(kind(config) for _ in range(2))
    encoder.apply(initialize)
    ids = torch.randint(10, (16, 6))
    x = encoder(torch.randn(10, 32)[ids])
    loss = cross_entropy(output(x).flatten(0, 1), ids.flatten())
    length = x.norm(dim=-1).mean()
    print(f"{kind.__name__}, length of a token: {length:.1f}")
    print(f"{kind.__name__}, first loss: {loss:.1f}")
