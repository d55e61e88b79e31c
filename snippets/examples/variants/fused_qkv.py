import torch
from einops import rearrange

from transformer import MultiHeadAttention
from variants.encoder_einops import Attention

torch.manual_seed(0)
theirs = Attention(dim=512, heads=8, dim_head=64)
x = torch.randn(2, 5, 512)
qkv = theirs.to_qkv(x)
print("to_qkv:", tuple(qkv.shape))
query, key, value = qkv.chunk(3, dim=-1)
print("a third of it:", tuple(query.shape))
heads = rearrange(query, "b n (h d) -> b h n d", h=8)
print("in heads:", tuple(heads.shape))
back = rearrange(heads, "b h n d -> b n (h d)")
print("and back, the same:", back.equal(query))
print("project_out, 8 heads:", type(theirs.to_out).__name__)
alone = Attention(dim=64, heads=1, dim_head=64)
print("project_out, 1 head of the full width:", type(alone.to_out).__name__)

ours = MultiHeadAttention(512, 8)
three = ours.query, ours.key, ours.value
print(f"weights, one matrix: {theirs.to_qkv.weight.numel():,}")
print(f"weights, three: {sum(linear.weight.numel() for linear in three):,}")
