import torch

import decode
from transformer import Transformer, TransformerConfig
from variants.grouped import GroupedQueryAttention

torch.manual_seed(0)
model = Transformer(
    TransformerConfig(
        src_vocab_size=100,
        tgt_vocab_size=100,
        d_model=64,
        nhead=8,
        num_encoder_layers=1,
        num_decoder_layers=2,
        dim_feedforward=256,
    )
)
src, tgt = torch.randint(3, 100, (4, 10)), torch.randint(3, 100, (4, 6))


def run():
    """All logits, and the numbers in the memory that the cache holds."""
    with decode.eval_mode(model):
        cache = decode.KeyValueCache(model, src)
        logits = torch.stack([cache.step(ids) for ids in tgt.T], dim=1)
    parts = [p for layer in cache.layers for p in (layer.target, layer.source)]
    stored = [tensor for p in parts for tensor in (p.key, p.value)]
    return logits, sum(t.untyped_storage().nbytes() for t in stored) // 4


print("8 heads, numbers held:", run()[1])
for layer in model.decoder.layers:
    layer.self_attention = GroupedQueryAttention(64, 8, num_kv_heads=2)
    layer.cross_attention = GroupedQueryAttention(64, 8, num_kv_heads=2)
logits, held = run()
print("2 shared heads, numbers held:", held)
with decode.eval_mode(model):
    print("the same logits:", logits.allclose(model(src, tgt), atol=1e-5))
