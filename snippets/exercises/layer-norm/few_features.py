import torch

from transformer import LayerNorm

torch.manual_seed(0)
for d in 1, 2, 3:
    y = LayerNorm(d)(100 * torch.randn(4, d)).detach()
    for row in y.tolist():
        print(f"d = {d}:", " ".join(f"{number + 0.0:6.3f}" for number in row))
