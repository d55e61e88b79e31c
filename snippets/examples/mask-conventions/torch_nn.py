import torch
from torch import nn

from transformer import MultiHeadAttention, causal_mask, padding_mask

torch.manual_seed(0)
theirs = nn.MultiheadAttention(embed_dim=16, num_heads=2, batch_first=True)
ours = MultiHeadAttention(d_model=16, nhead=2)
layers = (ours.query, ours.key, ours.value)
weights = theirs.in_proj_weight.chunk(3)  # query, key and value in one
for layer, weight in zip(layers, weights, strict=True):
    layer.weight = nn.Parameter(weight)
    nn.init.zeros_(layer.bias)
ours.output = theirs.out_proj

x = torch.randn(2, 5, 16)
ids = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 0, 0, 0]])
causal, padding = causal_mask(5), padding_mask(ids)
expected, _ = ours(x, x, x, causal & padding)
right, _ = theirs(x, x, x, key_padding_mask=ids == 0, attn_mask=~causal[0, 0])
print(
    "both masks inverted by ~, difference:",
    f"{(right - expected).abs().max():.5f}",
)

for name, mask in {
    "our padding mask": {"key_padding_mask": ids != 0},
    "our causal mask": {"attn_mask": causal[0, 0]},
}.items():
    for need_weights in True, False:
        output, _ = theirs(x, x, x, need_weights=need_weights, **mask)
        nan = output.isnan().any(dim=-1).int().tolist()
        print(f"{name}, need_weights={need_weights}, NaN at: {nan}")
