import torch
from torch import nn

from transformer import Transformer, TransformerConfig
from variants.alibi import ALiBiAttention
from variants.rotary import RotaryAttention

src = torch.tensor([[5, 6, 7, 8, 9]])
tgt = torch.tensor([[1, 10, 11]])
sizes = {"d_model": 64, "nhead": 4, "dim_feedforward": 256, "dropout": 0.0}
sizes |= {"num_encoder_layers": 2, "num_decoder_layers": 2}
for name, kind in ("ALiBi", ALiBiAttention), ("rotary", RotaryAttention):
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(20, 20, **sizes))
    model.position = nn.Identity()
    for layer in [*model.encoder.layers, *model.decoder.layers]:
        layer.self_attention = kind(64, 4)
    model.double()
    plain = model(src, tgt)
    for order, other in (
        ("backwards", src.flip(1)),
        ("two words swapped", src[:, [1, 0, 2, 3, 4]]),
    ):
        moved = (model(other, tgt) - plain).abs().max()
        print(f"{name}, {order}: {moved:.2f}")
