import torch

from transformer import Encoder, LayerNorm, TransformerConfig, initialize

x = torch.randn(1, 20, 64, generator=torch.Generator().manual_seed(0))
for norm_first in (False, True):
    torch.manual_seed(0)
    config = TransformerConfig(
        9, 12, d_model=64, dropout=0.0, norm_first=norm_first
    )
    encoder = Encoder(config).apply(initialize)
    name = "pre-norm" if norm_first else "post-norm"
    sizes, y = [], x
    for layer in encoder.layers:
        y = layer(y)
        sizes.append(round(y.square().mean().sqrt().item(), 1))
    out = encoder(x)
    print(f"{name}, after each layer:", sizes)
    print(f"{name}, out of the encoder:", f"{out.square().mean().sqrt():.1f}")
    again = torch.allclose(LayerNorm(64)(out), out, atol=1e-4)
    print(f"{name}, one more LayerNorm changes nothing:", again)
