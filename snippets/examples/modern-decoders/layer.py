import torch
import torch.nn.functional as F

from variants.decoder_2025 import Cache, DecoderConfig, Layer


def norm(x, weight):  # RMSNorm
    return weight * x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt()


def rotate(x, base=1e6):  # features i and i + 16 are a pair
    positions, pair = torch.arange(x.size(-2)), torch.arange(16)
    angle = positions.unsqueeze(1) * base ** (-pair / 16)  # (n, 16)
    first, second = x.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    turned = first * cos - second * sin, second * cos + first * sin
    return torch.cat(turned, dim=-1)


def split(x):  # (batch, n, heads * 32) -> (batch, heads, n, 32)
    return x.unflatten(-1, (-1, 32)).transpose(1, 2)


def qwen3_layer(x, w):
    h = norm(x, w["attention_norm"])
    q = rotate(norm(split(h @ w["query"].T), w["query_norm"]))  # 4 heads
    k = rotate(norm(split(h @ w["key"].T), w["key_norm"]))  # 2 heads
    v = split(h @ w["value"].T)  # each is for two query heads
    k, v = k.repeat_interleave(2, dim=1), v.repeat_interleave(2, dim=1)
    heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    x = x + heads.transpose(1, 2).flatten(2) @ w["output"].T
    h = norm(x, w["feed_forward_norm"])
    return x + (F.silu(h @ w["gate"].T) * (h @ w["up"].T)) @ w["down"].T


sizes = {"d_model": 64, "nhead": 4, "num_kv_heads": 2, "head_dim": 32}
layer = Layer(DecoderConfig(**sizes, dim_feedforward=48), number=0)
w = {name.split(".")[-2]: p for name, p in layer.state_dict().items()}
x = torch.randn(1, 6, 64)
same = qwen3_layer(x, w).allclose(layer(x, torch.arange(6), Cache()), atol=1e-5)
print("equal to the class:", same)
