import torch

from variants.decoder_2023 import Decoder2023, DecoderConfig


def billions(**sizes):
    with torch.device("meta"):  # shapes without numbers
        model = Decoder2023(DecoderConfig(vocab_size=32000, **sizes))
    return f"{sum(p.numel() for p in model.parameters()) / 1e9:.2f}"


large = {"d_model": 8192, "nhead": 64, "num_kv_heads": 8}
print("LLaMA 7B:", billions())
print("LLaMA 2 70B:", billions(**large, num_layers=80, dim_feedforward=28672))
print("a multiple of 256:", -(-(4096 * 8 // 3) // 256) * 256)
