import torch

from transformer import LayerNorm

x = torch.tensor([1.0, 3, 3, 9])
norm = LayerNorm(4)


def silent(x):
    return torch.zeros_like(x)


post_norm = norm(x + silent(x))
pre_norm = x + silent(norm(x))
x = norm(x)
overwritten = x + silent(x)

for name, y in (
    ("post-norm", post_norm),
    ("pre-norm", pre_norm),
    ("x overwritten by its norm", overwritten),
):
    print(f"{name}:", [round(number, 4) for number in y.tolist()])
