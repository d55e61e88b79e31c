import torch

from transformer import MultiHeadAttention
from variants.grouped import GroupedQueryAttention


def merged(ours, num_kv_heads):
    """Grouped queries whose shared heads are means of those of ours."""
    new = GroupedQueryAttention(512, ours.nhead, num_kv_heads)
    for name in "query", "output":
        getattr(new, name).load_state_dict(getattr(ours, name).state_dict())
    for name in "key", "value":
        old, linear = getattr(ours, name), getattr(new, name)
        for number in "weight", "bias":
            heads = getattr(old, number).unflatten(0, (num_kv_heads, -1, 64))
            getattr(linear, number).data = heads.mean(dim=1).flatten(0, 1)
    return new


torch.manual_seed(0)
x = torch.randn(2, 5, 512)
full = MultiHeadAttention(512, 8)
right = full(x, x, x)[0]
for kv_heads in 8, 4, 1:
    apart = (merged(full, kv_heads)(x, x, x)[0] - right).norm() / right.norm()
    print(f"{kv_heads} of 8: off by {apart:.0%}")

for linear in full.key, full.value:  # two by two the same
    for number in linear.weight, linear.bias:
        number.data = number.data[: len(number) // 2]
        number.data = number.data.unflatten(0, (4, 64))
        number.data = number.data.repeat_interleave(2, dim=0).flatten(0, 1)
right = full(x, x, x)[0]
alike = merged(full, 4)(x, x, x)[0].allclose(right, atol=1e-6)
print("pairs that were alike already, nothing lost:", alike)
