import torch
import torch.nn.functional as F

from variants.grouped import GroupedQueryAttention

torch.manual_seed(0)
x = torch.randn(2, 5, 512)
for kv_heads in 8, 4, 2, 1:
    ours = GroupedQueryAttention(512, 8, kv_heads).eval()
    count = sum(p.numel() for p in ours.parameters())
    kept = 2 * ours.key(x).size(-1)  # a key and a value
    print(f"{kv_heads} of 8: {count:,} parameters, {kept} numbers kept")

q, k, v = (
    linear(x).unflatten(-1, (-1, 64)).transpose(1, 2)  # (2, heads, 5, 64)
    for linear in (ours.query, ours.key, ours.value)
)
heads = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
theirs = ours.output(heads.transpose(1, 2).flatten(2))
print("queries:", tuple(q.shape))
print("keys:", tuple(k.shape))
print("equal to enable_gqa:", ours(x, x, x)[0].allclose(theirs, atol=1e-6))

for kv_heads in 64, 8, 1:  # 80 layers, head_dim 128, 4096 tokens, 2 bytes
    size = 80 * 2 * kv_heads * 128 * 4096 * 2
    print(f"cache, {kv_heads} of 64 heads: {size / 1e9:.2f} GB")
