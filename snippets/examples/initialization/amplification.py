import torch

from transformer import Encoder, TransformerConfig, initialize


def movement(depth, norm_first):
    """How far the output moves when every weight gets 1 % of noise."""
    config = TransformerConfig(
        src_vocab_size=9, tgt_vocab_size=12, d_model=64, nhead=4,
        num_encoder_layers=depth, dim_feedforward=256,
        norm_first=norm_first,
    )  # fmt: skip
    encoder = Encoder(config).apply(initialize).eval()
    x = torch.randn(8, 16, 64)
    with torch.no_grad():
        before = encoder(x)
        for weight in encoder.parameters():
            if weight.dim() == 2:
                weight += 0.01 * weight.std() * torch.randn_like(weight)
        return (encoder(x) - before).norm() / before.norm()


for name, norm_first in ("post-norm", False), ("pre-norm", True):
    for depth in 1, 4, 16:
        torch.manual_seed(0)
        mean = sum(movement(depth, norm_first) for _ in range(10)) / 10
        print(f"{name}, depth {depth}, the output moves by: {mean:.1%}")
