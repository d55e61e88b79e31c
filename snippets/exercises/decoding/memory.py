import torch

from decode import KeyValueCache, eval_mode
from transformer import Transformer, TransformerConfig


def kept(batch, source, target, layers=6, d_model=512):
    return 2 * layers * batch * (source + target) * d_model * 4


MIB = 2**20
print(f"greedy, MiB: {kept(32, 256, 256) / MIB:.0f}")
print(f"beam of 4, MiB: {kept(4 * 32, 256, 256) / MIB:.0f}")
print(f"one head of eight kept, MiB: {kept(4 * 32, 256, 256) / 8 / MIB:.0f}")

with torch.device("meta"):
    model = Transformer(TransformerConfig(37000, 37000))
weights = 4 * sum(p.numel() for p in model.parameters())
print(f"weights, MiB: {weights / MIB:.0f}")

model = Transformer(
    TransformerConfig(
        src_vocab_size=9,
        tgt_vocab_size=9,
        d_model=64,
        nhead=4,
        num_encoder_layers=1,
        num_decoder_layers=3,
        dim_feedforward=64,
    )
)
with eval_mode(model):
    cache = KeyValueCache(model, torch.ones(2, 7, dtype=torch.int64))
    for _ in range(5):
        cache.step(torch.tensor([1, 1]))
parts = [p for layer in cache.layers for p in (layer.target, layer.source)]
stored = [tensor for part in parts for tensor in (part.key, part.value)]
counted = sum(tensor.untyped_storage().nbytes() for tensor in stored)
print("a small one, counted:", counted)
print("the formula says:", kept(2, 7, 5, layers=3, d_model=64))
