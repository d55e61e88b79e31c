import torch
from torch import nn

from transformer import Transformer, TransformerConfig
from variants.rotary import RotaryAttention

torch.manual_seed(0)
config = TransformerConfig(20, 20, d_model=64, nhead=4, dropout=0.0)
model = Transformer(config)
model.position = nn.Identity()  # nothing is added any more
for layer in [*model.encoder.layers, *model.decoder.layers]:
    layer.self_attention = RotaryAttention(config.d_model, config.nhead)

src, tgt = torch.tensor([[5, 6, 7, 8]]), torch.tensor([[1, 9, 10]])
swapped = src[:, [1, 0, 2, 3]]
print("logits:", tuple(model(src, tgt).shape))
moved = (model(swapped, tgt) - model(src, tgt)).abs().max()
print(f"two words swapped, logits move by: {moved:.2f}")
