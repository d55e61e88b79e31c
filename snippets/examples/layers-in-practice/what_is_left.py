import torch

from transformer import Encoder, LayerNorm, TransformerConfig, initialize

torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=9, tgt_vocab_size=12, d_model=128, nhead=8,
    num_encoder_layers=12, dim_feedforward=512,
)  # fmt: skip
encoder = Encoder(config).apply(initialize).eval()
shares = []


def keep(norm, inputs):
    deviation = inputs[0].std(dim=-1, correction=0)
    shares.append(1 / deviation)  # (batch, position)


for module in encoder.modules():
    if isinstance(module, LayerNorm):
        module.register_forward_pre_hook(keep)
with torch.no_grad():
    encoder(torch.randn(8, 16, 128))
left = torch.stack(shares).cumprod(0).mean((1, 2))
for layer in 1, 6, 12:
    print(f"x counts, after layer {layer}: {left[2 * layer - 1]:.2g}")
