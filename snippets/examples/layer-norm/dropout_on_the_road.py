import torch
from torch import nn

from transformer import Residual, TransformerConfig

torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=9, tgt_vocab_size=12,
    d_model=512, dropout=0.1, norm_first=True,
)  # fmt: skip
residuals = nn.ModuleList(Residual(config) for _ in range(12))
dropout = nn.Dropout(0.1)

x = before = after = torch.ones(100, 512)
for residual in residuals:
    before = residual(before, torch.zeros_like)
    after = dropout(after + torch.zeros_like(after))
print(f"dropped before the sum, lost of x: {(before == 0).double().mean():.0%}")
print(f"dropped after the sum, lost of x: {(after == 0).double().mean():.0%}")
