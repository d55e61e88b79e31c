# --8<-- [start:window]
"""Sliding windows: each position attends to those near it."""

import torch
from torch import Tensor

from transformer import MultiHeadAttention


def sliding_window_mask(
    size: int, window: int, device: torch.device | None = None
) -> Tensor:
    """True where |i - j| < window, for query i and key j.

    With & causal_mask(size): the position itself and window - 1 before it.
    Shape (1, 1, size, size). Raises ValueError for a window below 1.
    Source: Beltagy et al. 2020, section 3.1; Jiang et al. 2023, section 2.
    """
    if window < 1:
        raise ValueError(f"window must be at least 1, got {window}")
    full = torch.ones(1, 1, size, size, dtype=torch.bool, device=device)
    return full.tril(window - 1).triu(1 - window)


class WindowAttention(MultiHeadAttention):
    """Self-attention in which each position sees those less than window away.

    Shapes and errors: as MultiHeadAttention.
    """

    window = 4

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        near = sliding_window_mask(key.size(1), self.window, key.device)
        mask = near if mask is None else near & mask
        return super().forward(query, key, value, mask, need_weights)


# --8<-- [end:window]
