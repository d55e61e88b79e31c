import torch
from torch import nn

from transformer import EncoderLayer, TransformerConfig

for x in -3.0, -1.0, -0.1, 0.1, 1.0, 3.0:
    number = torch.tensor(x)
    gelu = nn.functional.gelu(number)
    print(f"x = {x:4.1f}  relu {number.relu():.3f}  gelu {gelu:6.3f}")

network = nn.Sequential(
    nn.Linear(64, 256), nn.GELU(), nn.Dropout(0.1), nn.Linear(256, 64)
)
block = nn.Sequential(nn.LayerNorm(64), *network, nn.Dropout(0.1))
config = TransformerConfig(
    src_vocab_size=9, tgt_vocab_size=12,
    d_model=64, dropout=0.1, norm_first=True,
)  # fmt: skip
layer = EncoderLayer(config)
layer.feed_forward = network

x = torch.randn(2, 5, 64)
torch.manual_seed(0)  # the same numbers are dropped in both
theirs = x + block(x)
torch.manual_seed(0)
ours = x + layer.dropout(layer.feed_forward(layer.norm2(x)))
print("the same, dropout included:", ours.allclose(theirs, atol=1e-5))
