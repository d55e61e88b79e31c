import torch
from torch import nn
from torch.nn.functional import cross_entropy, one_hot

from transformer import Encoder, Residual, TransformerConfig, initialize


class NoSum(Residual):
    def forward(self, x, sublayer):
        return self.norm(sublayer(x))


for name, layers, attention, network in (
    ("with both", 6, Residual, Residual),
    ("without both", 6, NoSum, NoSum),
    ("without the one around attention", 6, NoSum, Residual),
    ("without the one around the network", 6, Residual, NoSum),
    ("two layers without both", 2, NoSum, NoSum),
    ("three layers without both", 3, NoSum, NoSum),
):
    torch.manual_seed(0)
    config = TransformerConfig(
        src_vocab_size=10, tgt_vocab_size=10, d_model=32, nhead=4,
        num_encoder_layers=layers, dim_feedforward=128, dropout=0.0,
    )  # fmt: skip
    encoder = Encoder(config)
    for layer in encoder.layers:
        layer.residuals = nn.ModuleList([attention(config), network(config)])
    model = nn.Sequential(nn.Embedding(10, 32), encoder, nn.Linear(32, 10))
    model.apply(initialize)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(1, 301):
        ids = torch.randint(10, (16, 6))
        loss = cross_entropy(model(ids).flatten(0, 1), ids.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step in (80, 300):
            new = torch.randint(10, (500, 6))
            answers = model(new).argmax(dim=-1)  # (sentence, position)
            right = (answers == new).double().mean()
            print(f"{name}, correct after {step} steps: {right:.0%}")
            if step == 300:
                same = (answers == answers[:, :1]).all(dim=1).double().mean()
                label = "sentences with one answer for all positions"
                print(f"{name}, {label}: {same:.0%}")

ids = torch.randint(10, (100_000, 6))
most = one_hot(ids, 10).sum(dim=1).amax(dim=-1)  # of one token in a sentence
print(f"a blind guess: {1 / 10:.0%}")
print(f"the best answer for all positions: {most.double().mean() / 6:.0%}")
