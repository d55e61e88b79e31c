import textwrap
from dataclasses import replace

import torch

from transformer import Transformer, TransformerConfig

torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=9,
    tgt_vocab_size=12,
    d_model=32,
    nhead=4,
    num_encoder_layers=1,
    num_decoder_layers=1,
    dim_feedforward=64,
)
model = Transformer(config).eval()
saved = model.state_dict()

narrow = Transformer(replace(config, dim_feedforward=48))
try:
    narrow.load_state_dict(saved)
except RuntimeError as error:
    for line in str(error).splitlines()[:2]:
        print(textwrap.fill(line.strip(), 78))

eight_heads = Transformer(replace(config, nhead=8)).eval()
print("8 heads instead of 4:", eight_heads.load_state_dict(saved))
src, tgt = torch.tensor([[4, 5, 6, 7, 8]]), torch.tensor([[1, 4, 5]])
print("the same logits:", torch.equal(model(src, tgt), eight_heads(src, tgt)))
