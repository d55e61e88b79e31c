from transformer import FeedForward
from variants.swiglu import SwiGLU


def weights(module):
    return sum(p.numel() for p in module.parameters() if p.dim() == 2)


print(f"FeedForward(512, 2048): {weights(FeedForward(512, 2048)):,}")
print(f"SwiGLU(512, 2048): {weights(SwiGLU(512, 2048)):,}")
print(f"SwiGLU(512, 1365): {weights(SwiGLU(512, 1365)):,}")
