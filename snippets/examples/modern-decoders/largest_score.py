import torch

from variants.decoder_2026 import Decoder2026, DecoderConfig

sizes = {"vocab_size": 50, "d_model": 64, "nhead": 1, "num_kv_heads": 1}
sizes |= {"head_dim": 64, "num_layers": 1, "dim_feedforward": 64}
normed = DecoderConfig(**sizes, qk_norm=True)
plain = DecoderConfig(**sizes, qk_norm=False)


def largest_score(config, factor):
    torch.manual_seed(0)
    attention = Decoder2026(config).layers[0].attention
    x = torch.randn(1, 200, 64)
    with torch.no_grad():
        q = attention.query_norm(factor * attention.query(x))
        k = attention.key_norm(factor * attention.key(x))
        return (q @ k.mT * attention.scale).abs().max()


for factor in 1, 10:
    for name, config in ("without", plain), ("with the norms", normed):
        score = largest_score(config, factor)
        print(f"largest score, {name}, weights times {factor}: {score:.1f}")
