import torch
from torch import nn

from transformer import PositionalEncoding, TokenEmbedding


class Encoder(nn.Module):
    def __init__(self, vocab_size, d_model, nhead, count):
        super().__init__()
        self.tokens = TokenEmbedding(vocab_size, d_model)  # 1: √d fits
        self.position = PositionalEncoding(d_model)  # 2: a buffer
        self.layers = nn.ModuleList(  # 3: registered
            nn.TransformerEncoderLayer(
                d_model,
                nhead,
                4 * d_model,
                batch_first=True,  # 4
            )
            for _ in range(count)
        )

    def forward(self, ids):
        x = self.position(self.tokens(ids))
        for layer in self.layers:
            x = layer(x)
        return x


torch.manual_seed(0)
model = Encoder(vocab_size=9, d_model=32, nhead=4, count=2).eval()
ids = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 8, 4, 5]])
changed = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 8, 4, 8]])
before, after = model(ids), model(changed)
for name, x in ("word", model.tokens(ids)), ("position", model.position.table):
    print(f"length of a {name}: {x.norm(dim=-1).mean():.1f}")
print("layers have parameters:", len(list(model.layers.parameters())) > 0)
print("first sentence stays:", torch.equal(before[0], after[0]))
print("first word of the second moves:", not before[1, 0].equal(after[1, 0]))
print("runs on meta:", model.to("meta")(ids.to("meta")).is_meta)
