import torch

from transformer import MultiHeadAttention, initialize

torch.manual_seed(0)
x = torch.randn(1, 500, 512)  # entries as after normalization
attention = MultiHeadAttention(d_model=512, nhead=8)


def variance():
    q = attention.split(attention.query(x))
    k = attention.split(attention.key(x))
    return f"{(q @ k.mT / 64**0.5).var():.1f}"


print("scores, nn.Linear as it comes:", variance())
attention.apply(initialize)
print("scores, Xavier-uniform:", variance())
