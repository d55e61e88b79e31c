import torch

from transformer import MultiHeadAttention

torch.manual_seed(0)
attention = MultiHeadAttention(d_model=512, nhead=8)
x = torch.randn(1, 1, 512, requires_grad=True)  # one token

projected = attention.split(attention.query(x))  # (1, 8, 1, 64)
sliced = attention.split(x)  # what heads are often said to see
for name, queries in ("projected", projected), ("sliced", sliced):
    for head in 0, 7:
        what = queries[0, head].sum()
        gradient = torch.autograd.grad(what, x, retain_graph=True)[0]
        used = gradient.flatten().nonzero()
        span = f"{used.min()} to {used.max()}"
        print(f"{name}, head {head}: {len(used)} ({span})")
