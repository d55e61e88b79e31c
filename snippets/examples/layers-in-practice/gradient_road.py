import torch

from transformer import FeedForward, initialize


def gradient_norms(add, depth=24, d_model=128):
    """The gradient's norm at the output, then below each sublayer."""
    torch.manual_seed(0)
    x, states = torch.randn(16, 8, d_model, requires_grad=True), []
    for _ in range(depth):
        network = FeedForward(d_model, 4 * d_model, dropout=0.0)
        states.append(x)
        y = network.apply(initialize)(x)
        x = x + y if add else y
    gradients = torch.autograd.grad(x, states, torch.randn_like(x))
    norms = [gradient.norm() for gradient in reversed(gradients)]
    scale = gradients[0].numel() ** -0.5
    return torch.stack([torch.ones(()), *(n * scale for n in norms)])


for name, add, guess in ("f(x)", False, 0.32), ("x + f(x)", True, 1.32):
    norms = gradient_norms(add)
    factor = norms[-1] ** (1 / 24)
    print(f"{name}, a sublayer multiplies the gradient by: {factor:.2f}")
    print(f"{name}, expected: {guess**0.5:.2f}")
    print(f"{name}, what 24 of them leave of 1: {norms[-1]:.2g}")
