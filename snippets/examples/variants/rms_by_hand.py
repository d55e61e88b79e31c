import torch

from transformer import LayerNorm
from variants.rmsnorm import RMSNorm

x = torch.tensor([1.0, 2.0, 2.0, 4.0])
rms, layer = RMSNorm(4), LayerNorm(4)


def show(name, numbers):
    print(f"{name}:", *(f"{number:6.3f}" for number in numbers.tolist()))


with torch.no_grad():
    print(f"rms(x): {x.square().mean().sqrt():.1f}")
    for name, given in ("x", x), ("10 x", 10 * x), ("x + 10", x + 10):
        show(f"RMSNorm of {name}", rms(given))
        show(f"LayerNorm of {name}", layer(given))
    same = torch.nn.RMSNorm(4, eps=1e-5)(x).equal(rms(x))
print("equal to nn.RMSNorm:", same)
