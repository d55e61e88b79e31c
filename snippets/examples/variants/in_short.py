import torch

from transformer import FeedForward, LayerNorm, MultiHeadAttention
from variants.grouped import GroupedQueryAttention
from variants.rmsnorm import RMSNorm
from variants.rotary import RotaryAttention
from variants.swiglu import SwiGLU

for part in (
    MultiHeadAttention(d_model=64, nhead=4),
    RotaryAttention(d_model=64, nhead=4),
    GroupedQueryAttention(d_model=64, nhead=4, num_kv_heads=2),
    LayerNorm(d_model=64),
    RMSNorm(d_model=64),
    FeedForward(d_model=64, dim_feedforward=256),
    SwiGLU(d_model=64, dim_feedforward=170),
):
    x = torch.randn(2, 5, 64)  # two sentences of five tokens
    attends = isinstance(part, MultiHeadAttention)
    y = part(x, x, x)[0] if attends else part(x)
    count = sum(p.numel() for p in part.parameters())
    print(f"{type(part).__name__}: {count:,} parameters,", tuple(y.shape))
