import torch

from transformer import MultiHeadAttention

torch.manual_seed(0)
ours = MultiHeadAttention(d_model=32, nhead=4).eval()
x = torch.randn(2, 5, 32)
b, n, d = x.shape


def published(split, scale, axis):
    q, k, v = (split(f(x)) for f in (ours.query, ours.key, ours.value))
    weights = (q @ k.mT / scale).softmax(dim=axis)
    return ours.output((weights @ v).transpose(1, 2).reshape(b, n, d))


def no_transpose(x):
    return x.reshape(b, 4, n, 8)


for name, split, scale, axis in (
    ("as published", no_transpose, 32**0.5, 1),
    ("split repaired", ours.split, 32**0.5, 1),
    ("and the scale", ours.split, 8**0.5, 1),
    ("and the axis", ours.split, 8**0.5, -1),
):
    output = published(split, scale, axis)
    close = torch.allclose(output, ours(x, x, x)[0], atol=1e-6)
    print(f"{name}: shape {tuple(output.shape)}, equal to ours {close}")
