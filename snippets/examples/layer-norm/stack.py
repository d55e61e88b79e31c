import torch
from torch import nn


def f(x):  # in place of a sublayer: a random vector, about as long as x
    return torch.randn(100, 512) * x.norm(dim=-1, keepdim=True) / 512**0.5


torch.manual_seed(0)
norm = nn.LayerNorm(512)
x = none = post = pre = torch.randn(100, 512)  # a hundred random vectors
for _ in range(12):
    none = none + f(none)
    post = norm(post + f(post))
    pre = pre + f(norm(pre))
print(f"input, mean length: {x.norm(dim=-1).mean():.1f}")
print(f"without LayerNorm: {none.norm(dim=-1).mean():.1f}")
print(f"post-norm: {post.norm(dim=-1).mean():.1f}")
print(f"pre-norm: {pre.norm(dim=-1).mean():.1f}")
