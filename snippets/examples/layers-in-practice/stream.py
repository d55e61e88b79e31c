import torch

from transformer import Encoder, TransformerConfig, initialize

for name, norm_first in ("post-norm", False), ("pre-norm", True):
    torch.manual_seed(0)
    config = TransformerConfig(
        src_vocab_size=9, tgt_vocab_size=12,
        d_model=128, nhead=8, num_encoder_layers=12,
        dim_feedforward=512, dropout=0.0, norm_first=norm_first,
    )  # fmt: skip
    encoder = Encoder(config).apply(initialize)
    x = torch.randn(8, 16, 128)
    with torch.no_grad():
        for number, layer in enumerate(encoder.layers, 1):
            before, x = x, layer(x)
            if number in (1, 6, 12):
                length = x.norm(dim=-1).mean()
                step = (x - before).norm(dim=-1) / before.norm(dim=-1)
                print(f"{name}, layer {number}, length: {length:.1f}")
                print(f"{name}, layer {number}, change: {step.mean():.2f}")
        last = encoder.norm(x)
    print(f"{name}, at the end: {last.norm(dim=-1).mean():.1f}")
