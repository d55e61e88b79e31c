import torch
from torch import nn

from transformer import Encoder, TransformerConfig

torch.manual_seed(0)
encoder = Encoder(TransformerConfig(9, 12, d_model=32, nhead=4, dropout=0.0))
final = nn.LayerNorm(32)  # what nn.Transformer puts on top
x = torch.randn(1, 5, 32)

y = encoder(x)
print("at first:", torch.allclose(final(y), y, atol=1e-4))

last = encoder.layers[-1].norm2
nn.init.normal_(last.weight)  # as training would move them
nn.init.normal_(last.bias)
y = encoder(x)
print("after training:", torch.allclose(final(y), y, atol=1e-4))
