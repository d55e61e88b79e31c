import torch
import torch.nn.functional as F

from transformer import FeedForward
from variants.swiglu import SwiGLU

for gate, up in (2.0, 3.0), (2.0, -3.0), (-2.0, 3.0), (-8.0, 3.0):
    open_by = F.silu(torch.tensor(gate))
    print(f"gate {gate:4.1f}, up {up:4.1f}: {open_by:6.3f} × up", end=" ")
    print(f"= {open_by * up:6.3f}")


def weights(module):
    return sum(p.numel() for p in module.parameters() if p.dim() == 2)


print(f"FeedForward(512, 2048): {weights(FeedForward(512, 2048)):,}")
print(f"SwiGLU(512, 2048): {weights(SwiGLU(512, 2048)):,}")
print(f"SwiGLU(512, 1365): {weights(SwiGLU(512, 1365)):,}")
