"""Muon's update of a matrix: momentum, made nearly orthogonal."""

from torch import Tensor


# --8<-- [start:orthogonalize]
def orthogonalize(matrix: Tensor, steps: int = 5) -> Tensor:
    """Newton-Schulz: U S V^T -> about U V^T, by products of matrices alone.

    Shapes: (rows, columns) -> the same.
    Source: Liu et al. 2025, section 2.1.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    x = matrix / matrix.norm()  # no singular value is above 1
    for _ in range(steps):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x


# --8<-- [end:orthogonalize]
# --8<-- [start:step]
def muon_step(
    weight: Tensor,
    grad: Tensor,
    momentum: Tensor,
    lr: float,
    beta: float = 0.95,
) -> None:
    """Change weight and momentum in place, as torch.optim.Muon does by default.

    Weight decay isn't included.
    """
    momentum.lerp_(grad, 1 - beta)  # the mean of earlier gradients
    update = orthogonalize(grad.lerp(momentum, beta))
    rows, columns = weight.shape
    weight -= lr * max(1, rows / columns) ** 0.5 * update


# --8<-- [end:step]
