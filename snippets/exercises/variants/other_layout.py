import torch
from einops import rearrange

from variants.encoder_einops import Attention

torch.manual_seed(0)
ours, x = Attention(64, heads=4, dim_head=16), torch.randn(2, 5, 64)
right = ours(x)
stored = rearrange(  # as somebody else's file has it
    ours.to_qkv.weight, "(three h d) c -> (h three d) c", three=3, h=4
)
ours.to_qkv.weight.data = stored
print("loaded as it is, the same:", ours(x).allclose(right, atol=1e-6))
back = rearrange(stored, "(h three d) c -> (three h d) c", three=3, h=4)
ours.to_qkv.weight.data = back
print("put in order, the same:", ours(x).allclose(right, atol=1e-6))
