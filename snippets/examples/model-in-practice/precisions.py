from copy import deepcopy

import torch

from transformer import Transformer, TransformerConfig

torch.manual_seed(0)
model = Transformer(
    TransformerConfig(
        src_vocab_size=9,
        tgt_vocab_size=12,
        d_model=32,
        nhead=4,
        num_encoder_layers=2,
        num_decoder_layers=2,
        dim_feedforward=64,
    )
).eval()
src = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 0, 0, 0]])
tgt = torch.tensor([[1, 4, 5, 6, 7, 8, 9, 10, 11], [1, 4, 5, 9, 10] + [0] * 4])
exact = deepcopy(model).double()(src, tgt)
bounds = {torch.float32: 1e-5, torch.float16: 0.01, torch.bfloat16: 0.1}
for dtype, bound in bounds.items():
    logits = deepcopy(model).to(dtype)(src, tgt)
    near = (logits - exact).abs().max().item() < bound
    print(f"{logits.dtype}, within {bound} of float64: {near}")
print("parameters, in bytes each:", [d.itemsize for d in bounds])
