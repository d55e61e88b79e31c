import torch
from torch.nn.functional import scaled_dot_product_attention

from transformer import MultiHeadAttention

torch.manual_seed(0)
x = torch.randn(1, 5, 512)
ours = MultiHeadAttention(d_model=512, nhead=8)
expected = ours(x, x, x)[0]

with torch.no_grad():
    ours.query.weight /= 64**0.5
    ours.query.bias /= 64**0.5
q, k, v = (ours.split(f(x)) for f in (ours.query, ours.key, ours.value))
heads = scaled_dot_product_attention(q, k, v, scale=1.0)  # no division
folded = ours.output(heads.transpose(1, 2).flatten(2))
print("same output:", torch.allclose(expected, folded, atol=1e-6))
