import torch
from torch import nn

from checks import run_checks

PAD = 0


class Wrapped(nn.Module):
    """nn.Transformer with embeddings, positions and an output layer."""

    def __init__(self, vocabulary=20, d_model=32, length=16):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, d_model)
        self.positions = nn.Embedding(length, d_model)
        self.model = nn.Transformer(
            d_model, nhead=4, num_encoder_layers=1, num_decoder_layers=1,
            dim_feedforward=64, batch_first=True,
        )  # fmt: skip
        self.output = nn.Linear(d_model, vocabulary)

    def vectors(self, ids):
        return self.embed(ids) + self.positions(torch.arange(ids.size(1)))

    def forward(self, src, tgt):
        n = tgt.size(1)
        future = torch.ones(n, n, dtype=torch.bool).triu(1)
        x = self.model(
            self.vectors(src), self.vectors(tgt), tgt_mask=future,
            src_key_padding_mask=src == PAD,
            tgt_key_padding_mask=tgt == PAD,
            memory_key_padding_mask=src == PAD,
        )  # fmt: skip
        return self.output(x)


class Faulty(Wrapped):
    """The same, with two mistakes."""

    def forward(self, src, tgt):
        x = self.model(self.vectors(src), self.vectors(tgt))
        return self.output(x)


src = torch.tensor([[5, 6, 7, 8, 9], [11, 12, 13, 0, 0]])
tgt = torch.tensor([[1, 4, 3, 9, 7, 2], [1, 15, 14, 10, 2, 0]])
if __name__ == "__main__":
    torch.manual_seed(0)
    print("nn.Transformer:", run_checks(Wrapped(), src, tgt) or "passes")
    print("without masks:")
    for name, message in run_checks(Faulty(), src, tgt).items():
        print(f"  {name}: {message}")
