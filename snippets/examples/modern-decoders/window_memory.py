import torch

from variants.decoder_2025 import Cache, Decoder2025, DecoderConfig

sizes = {"vocab_size": 50, "d_model": 64, "nhead": 4, "num_kv_heads": 2}
sizes |= {"head_dim": 32, "num_layers": 6, "dim_feedforward": 48}
prompt = torch.randint(50, (1, 2000))


def megabytes(window):
    model, cache = Decoder2025(DecoderConfig(**sizes, window=window)), Cache()
    with torch.no_grad():
        model(prompt, cache)
    parts = [part for layer in cache.layers.values() for part in layer]
    storages = [part.untyped_storage() for part in parts]
    return sum({s.data_ptr(): s.nbytes() for s in storages}.values()) / 1e6


print(f"without windows, megabytes: {megabytes(0):.2f}")
print(f"a window of 16 in five of six layers, megabytes: {megabytes(16):.2f}")
