import torch
from torch import nn
from torch.nn.functional import cross_entropy, one_hot

from transformer import Encoder, EncoderLayer, TransformerConfig, initialize


class Layer(EncoderLayer):
    sums = True, True  # around attention, around the network

    def forward(self, x, mask=None):
        a = self.attend(x, mask)
        x = self.norm1(x + a if self.sums[0] else a)
        f = self.feed_forward(x)
        return self.norm2(x + f if self.sums[1] else f)


for name, layers, sums in (
    ("with both", 6, (True, True)),
    ("without both", 6, (False, False)),
    ("without the one around attention", 6, (False, True)),
    ("without the one around the network", 6, (True, False)),
    ("two layers without both", 2, (False, False)),
    ("three layers without both", 3, (False, False)),
):
    config = TransformerConfig(
        src_vocab_size=10, tgt_vocab_size=10, d_model=32, nhead=4,
        num_encoder_layers=layers, dim_feedforward=128, dropout=0.0,
    )  # fmt: skip
    encoder = Encoder(config)
    torch.manual_seed(0)
    encoder.layers = nn.ModuleList(Layer(config) for _ in range(layers))
    for layer in encoder.layers:
        layer.sums = sums
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
