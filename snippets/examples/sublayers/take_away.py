import torch
from torch import nn
from torch.nn.functional import cross_entropy

from transformer import Encoder, Residual, TransformerConfig, initialise


class NoSum(Residual):
    def forward(self, x, sublayer):
        return self.norm(sublayer(x))


config = TransformerConfig(
    src_vocab_size=10, tgt_vocab_size=10, d_model=32, nhead=4,
    dim_feedforward=128, dropout=0.0,
)  # fmt: skip
for name, attention, network in (
    ("with both", Residual, Residual),
    ("without both", NoSum, NoSum),
    ("without the one around attention", NoSum, Residual),
    ("without the one around the network", Residual, NoSum),
):
    torch.manual_seed(0)
    encoder = Encoder(config)  # six layers
    for layer in encoder.layers:
        layer.residuals = nn.ModuleList([attention(config), network(config)])
    model = nn.Sequential(nn.Embedding(10, 32), encoder, nn.Linear(32, 10))
    model.apply(initialise)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(80):
        ids = torch.randint(10, (16, 6))
        loss = cross_entropy(model(ids).flatten(0, 1), ids.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ids = torch.randint(10, (500, 6))
    right = (model(ids).argmax(dim=-1) == ids).double().mean()
    print(f"{name}, correct tokens: {right:.0%}")
