import torch
import torch.nn.functional as F

from variants.decoder_2025 import Cache, DecoderConfig, Layer
from variants.rope_scaling import rotate_halves

sizes = {"d_model": 64, "nhead": 4, "num_kv_heads": 2, "head_dim": 32}
layer = Layer(DecoderConfig(**sizes, dim_feedforward=48), number=0)
x, positions = torch.randn(1, 6, 64), torch.arange(6)

attention = layer.attention
h = layer.attention_norm(x)
q = attention.query_norm(attention.split(attention.query(h)))
k = attention.key_norm(attention.split(attention.key(h)))
v = attention.split(attention.value(h))
angle = positions.unsqueeze(1) * attention.frequency
q, k = rotate_halves(q, angle), rotate_halves(k, angle)
gqa = {"is_causal": True, "enable_gqa": True}
heads = F.scaled_dot_product_attention(q, k, v, **gqa)
y = x + attention.output(heads.transpose(1, 2).flatten(2))
y = y + layer.feed_forward(layer.feed_forward_norm(y))
same = y.allclose(layer(x, positions, Cache()), atol=1e-5)
print("equal to the class:", same)
