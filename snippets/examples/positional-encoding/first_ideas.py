import torch

from transformer import sinusoidal_positional_encoding


def bits(p):
    return torch.tensor([(p >> bit) & 1 for bit in range(4)])


for n in 3, 11:
    print(f"share, for the second of {n} words: {1 / (n - 1)}")
table = sinusoidal_positional_encoding(max_len=16, d_model=8)
for p in 7, 8:
    flips = (bits(p + 1) != bits(p)).sum().item()
    print(f"binary digits that flip from {p} to {p + 1}: {flips}")
    step = (table[p + 1] - table[p]).norm()
    print(f"sinusoids, step from {p} to {p + 1}: {step:.4f}")
