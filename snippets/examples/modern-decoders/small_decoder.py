import torch

from variants.decoder_2025 import Cache, Decoder2025, DecoderConfig

torch.manual_seed(0)
config = DecoderConfig(
    vocab_size=50,
    d_model=64,
    nhead=4,
    num_kv_heads=2,
    head_dim=32,
    num_layers=3,
    dim_feedforward=48,
    num_experts=4,
    experts_per_token=2,
    window=4,
    global_every=3,
)
model = Decoder2025(config).eval()
ids = torch.randint(50, (1, 12))

with torch.no_grad():
    logits = model(ids)
    cache = Cache()
    parts = model(ids[:, :8], cache), model(ids[:, 8:], cache)
print("logits:", tuple(logits.shape))
print("the same with a cache:", torch.cat(parts, 1).allclose(logits, atol=1e-5))


def tokens_in_memory(part):  # of the whole storage, not only of the shape
    return part.untyped_storage().nbytes() // part[:, :, 0].nbytes


keys, values = zip(*cache.layers.values(), strict=True)
print("tokens whose keys are stored:", [tokens_in_memory(k) for k in keys])
print("tokens whose values are stored:", [tokens_in_memory(v) for v in values])
