import math

import torch
from torch import nn

from transformer import Transformer, TransformerConfig

torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=4000, tgt_vocab_size=4000, d_model=512, nhead=8,
    num_encoder_layers=1, num_decoder_layers=1,
)  # fmt: skip
model = Transformer(config)
layer = model.encoder.layers[0]


def report(name, weight, expected):
    print(f"{name}: {weight.std():.4f}, expected {expected:.4f}")


report("d to d", layer.self_attention.query.weight, math.sqrt(2 / 1024))
report("d to 4d", layer.feed_forward.linear1.weight, math.sqrt(2 / 2560))
report("output", model.output.weight, math.sqrt(2 / (512 + 4000)))
embedding = model.tgt_embedding.embedding.weight
report("embedding", embedding, math.sqrt(1 / 512))
print("padding row, largest:", embedding[0].abs().max().item())
packed = nn.MultiheadAttention(512, 8).in_proj_weight
report("nn.MultiheadAttention", packed, math.sqrt(2 / (512 + 3 * 512)))
