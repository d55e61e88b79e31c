"""Rotary positions for texts longer than those of the training."""

import math

import torch
from torch import Tensor


# --8<-- [start:frequencies]
def rope_frequencies(
    head_dim: int,
    base: float = 10000.0,
    scaling: str = "",
    factor: float = 1.0,
    original_len: int = 4096,
    whole_pairs: bool = True,
) -> tuple[Tensor, float]:
    """The angle of each pair at position 1, and the factor of the vectors.

    scaling is linear, ntk or yarn; yarn's limits are rounded to whole_pairs.
    The angles are float64, (head_dim / 2,).
    Raises ValueError for an odd head_dim and an unknown scaling.
    Source: Peng et al. 2023, sections 2 and 3.
    """
    if head_dim % 2 or scaling not in ("", "linear", "ntk", "yarn"):
        raise ValueError(
            f"unknown scaling or odd head_dim: {scaling!r}, {head_dim}"
        )
    if scaling == "ntk":
        base = base * factor ** (head_dim / (head_dim - 2))
    pair = torch.arange(head_dim // 2, dtype=torch.float64)
    frequency = base ** (-2 * pair / head_dim)
    if scaling == "linear":
        return frequency / factor, 1.0
    if scaling != "yarn":
        return frequency, 1.0

    def pair_with(turns: int) -> float:  # within original_len positions
        ratio = original_len / (turns * 2 * math.pi)
        return head_dim * math.log(ratio) / (2 * math.log(base))

    first, last = pair_with(32), pair_with(1)
    if whole_pairs:
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, head_dim - 1)
    slow = ((pair - first) / max(last - first, 0.001)).clamp(0, 1)
    size = 0.1 * math.log(factor) + 1
    return frequency * (1 - slow) + frequency / factor * slow, size


# --8<-- [end:frequencies]
# --8<-- [start:rotate]
def rotate_halves(x: Tensor, angle: Tensor, size: float = 1.0) -> Tensor:
    """Turns the pairs (i, i + head_dim / 2); multiplies them by size.

    Shapes: x (..., n, head_dim), angle (n, head_dim / 2) -> that of x.
    """
    cos, sin = size * angle.cos().to(x.dtype), size * angle.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)  # (..., n, head_dim / 2)
    turned = first * cos - second * sin, second * cos + first * sin
    return torch.cat(turned, dim=-1)


# --8<-- [end:rotate]
