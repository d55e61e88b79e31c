import torch

from transformer import MultiHeadAttention, causal_mask

mask = causal_mask(6).triu(-2)
print(mask[0, 0].int())

torch.manual_seed(0)
first, second = (MultiHeadAttention(d_model=16, nhead=4) for _ in range(2))
x = torch.randn(1, 6, 16)
changed = x.clone()
changed[:, 0] += 1  # the first token
one = [first(y, y, y, mask)[0] for y in (x, changed)]
two = [second(y, y, y, mask)[0] for y in one]
for name, (before, after) in {
    "one layer reaches": one,
    "two layers reach": two,
}.items():
    moved = (before != after).any(dim=-1)[0]
    print(f"{name}: {moved.nonzero().flatten().tolist()}")
