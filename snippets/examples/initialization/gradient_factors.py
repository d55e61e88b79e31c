from itertools import pairwise

import torch
from torch.nn.functional import cross_entropy

from transformer import LayerNorm, Transformer, TransformerConfig

PARTS = "self-attention", "cross-attention", "feed-forward"


def keep(x):
    x.retain_grad()
    states.append(x)  # the residual path before and after each sublayer


for name, norm_first in ("post-norm", False), ("pre-norm", True):
    torch.manual_seed(0)
    config = TransformerConfig(
        src_vocab_size=1000, tgt_vocab_size=1000, d_model=128, nhead=8,
        num_encoder_layers=12, num_decoder_layers=12, dim_feedforward=512,
        dropout=0.0, norm_first=norm_first,
    )  # fmt: skip
    model, states = Transformer(config), []
    for norm in model.decoder.modules():
        if isinstance(norm, LayerNorm) and norm_first:
            norm.register_forward_pre_hook(lambda _, inputs: keep(inputs[0]))
        elif isinstance(norm, LayerNorm):
            norm.register_forward_hook(lambda _, inputs, output: keep(output))
    if not norm_first:
        model.decoder.register_forward_pre_hook(
            lambda _, inputs: keep(inputs[0])
        )
    src, tgt = torch.randint(1, 1000, (8, 16)), torch.randint(1, 1000, (8, 17))
    logits = model(src, tgt[:, :-1])
    cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten()).backward()
    for part, label in enumerate(PARTS):
        ends = [*pairwise(states)][part::3]
        factors = [x.grad.norm() / y.grad.norm() for x, y in ends]
        mean = torch.stack(factors).log().mean().exp()
        print(f"{name} decoder, {label} leaves: {mean:.2f}")
