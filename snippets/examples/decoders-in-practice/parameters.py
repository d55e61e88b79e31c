import torch

from variants.decoder_2025 import Decoder2025, DecoderConfig


def count(**sizes):
    with torch.device("meta"):  # shapes without numbers
        model = Decoder2025(DecoderConfig(**sizes))
    return sum(p.numel() for p in model.parameters())


embeddings = 2 * 151936 * 4096
total = count()
print(f"Qwen3 8B, billions: {total / 1e9:.2f}")
rest = total - embeddings
print(f"Qwen3 8B without embeddings, billions: {rest / 1e9:.2f}")


def mixture(experts):
    sizes = {"d_model": 2048, "num_kv_heads": 4, "dim_feedforward": 768}
    one, two = (
        count(**sizes, num_experts=experts, num_layers=n) for n in (1, 2)
    )
    return one + 47 * (two - one)  # 48 equal layers


print(f"Qwen3 30B-A3B, billions: {mixture(128) / 1e9:.1f}")
used = mixture(8) + 48 * (128 - 8) * 2048  # a router scores all experts
print(f"Qwen3 30B-A3B, billions for a token: {used / 1e9:.2f}")
