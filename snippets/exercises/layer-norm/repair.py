import torch

from transformer import Residual, TransformerConfig


class Published(Residual):
    def forward(self, x, sublayer):
        x = self.norm(x)
        return self.dropout(x + sublayer(x))


class Repaired(Residual):
    def forward(self, x, sublayer):
        return x + self.dropout(sublayer(self.norm(x)))


torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=9, tgt_vocab_size=12, d_model=4, dropout=0.5
)
x = torch.tensor([1.0, 3, 3, 9])
for block in Published(config), Repaired(config):
    y = block(x, torch.zeros_like)
    print(f"{type(block).__name__}:", [round(n, 4) + 0.0 for n in y.tolist()])
