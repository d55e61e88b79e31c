import torch
from torch import nn


def f(x):  # in place of a sublayer: as long as x, at a right angle
    return torch.stack([x[1], -x[0], x[3], -x[2]])


norm = nn.LayerNorm(4)  # in a model, every sublayer has its own
none = post = pre = torch.tensor([1.0, 3, 3, 9])
for _ in range(12):
    none = none + f(none)
    post = norm(post + f(post))
    pre = pre + f(norm(pre))
print(f"without LayerNorm: {none.norm():.1f}")
print(f"post-norm: {post.norm():.1f}")
print(f"pre-norm: {pre.norm():.1f}")
