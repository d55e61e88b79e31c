import torch
from torch.nn.functional import cross_entropy

from transformer import Residual, Transformer, TransformerConfig

PARTS = "self-attention", "cross-attention", "feed-forward"


def keep(module, inputs, output):
    for state in inputs[0], output:
        state.retain_grad()
    ends.append((inputs[0], output))


for name, norm_first in ("post-norm", False), ("pre-norm", True):
    torch.manual_seed(0)
    config = TransformerConfig(
        src_vocab_size=1000, tgt_vocab_size=1000, d_model=128, nhead=8,
        num_encoder_layers=12, num_decoder_layers=12, dim_feedforward=512,
        dropout=0.0, norm_first=norm_first,
    )  # fmt: skip
    model, ends = Transformer(config), []
    for module in model.decoder.modules():
        if isinstance(module, Residual):
            module.register_forward_hook(keep)
    src, tgt = torch.randint(1, 1000, (8, 16)), torch.randint(1, 1000, (8, 17))
    logits = model(src, tgt[:, :-1])
    cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten()).backward()
    for part, label in enumerate(PARTS):
        factors = [x.grad.norm() / y.grad.norm() for x, y in ends[part::3]]
        mean = torch.stack(factors).log().mean().exp()
        print(f"{name} decoder, {label} leaves: {mean:.2f}")
