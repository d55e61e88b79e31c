import torch

from decode import KeyValueCache, eval_mode
from transformer import Transformer, TransformerConfig

torch.manual_seed(0)
config = TransformerConfig(src_vocab_size=100, tgt_vocab_size=100)  # base
model = Transformer(config)
src = torch.randint(3, 100, (2, 5))
with eval_mode(model):
    cache = KeyValueCache(model, src)
    for step in range(4):
        layer = cache.layers[0]
        print(f"{step} written, target keys: {tuple(layer.target.key.shape)}")
        print(f"{step} written, source keys: {tuple(layer.source.key.shape)}")
        cache.step(torch.tensor([1, 1]))
tensors = [
    tensor
    for layer in cache.layers
    for part in (layer.target, layer.source)
    for tensor in (part.key, part.value)
]
print("tensors kept:", len(tensors))
print("bytes kept:", sum(t.untyped_storage().nbytes() for t in tensors))
print("by the formula:", 2 * 6 * 2 * (4 + 5) * 512 * 4)
kept = 2 * 6 * 32 * (256 + 256) * 512 * 4 / 2**20
print(f"for 32 × 256, MiB: {kept:.0f}")

with torch.device("meta"):  # the base model: one table for all three uses
    model = Transformer(TransformerConfig(37000, 37000, tie_embeddings=True))
    model.src_embedding = model.tgt_embedding
weights = 4 * sum(p.numel() for p in model.parameters()) / 2**20
print(f"weights of the base model, MiB: {weights:.0f}")
print(f"times the weights: {kept / weights:.1f}")
