# --8<-- [start:linear]
"""LoRA: a small trained change beside weights that stay as they are."""

import torch
from torch import Tensor, nn

from variants.decoder_2025 import Decoder2025


class LoRALinear(nn.Module):
    """x W^T + scale * x A^T B^T; only A and B are trained.

    Shapes: W (m, n), A (rank, n), B (m, rank); x (..., n) -> (..., m).
    Raises ValueError for a rank below 1. Source: Hu et al. 2021, section 4.1.
    """

    def __init__(self, linear: nn.Linear, rank: int, alpha: float):
        super().__init__()
        if rank < 1:
            raise ValueError(f"rank must be at least 1, got {rank}")
        m, n = linear.weight.shape
        self.linear = linear.requires_grad_(False)
        self.A = nn.Parameter(torch.randn(rank, n) * n**-0.5)
        self.B = nn.Parameter(torch.zeros(m, rank))
        self.scale = alpha / rank

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) + self.scale * (x @ self.A.T @ self.B.T)

    @torch.no_grad()
    def merge(self) -> nn.Linear:
        self.linear.weight += self.scale * self.B @ self.A
        return self.linear


# --8<-- [end:linear]
# --8<-- [start:model]
MAPS = "query", "value"


def add_lora(model: Decoder2025, rank: int, alpha: float = 4.0) -> None:
    """Freeze the model, and add A and B to two maps of each attention."""
    model.requires_grad_(False)
    for layer in model.layers:
        for name in MAPS:
            linear = getattr(layer.attention, name)
            setattr(layer.attention, name, LoRALinear(linear, rank, alpha))


def merge_lora(model: Decoder2025) -> None:
    """Add the changes to the weights; the model has its old layers again."""
    for layer in model.layers:
        for name in MAPS:
            merged = getattr(layer.attention, name).merge()
            setattr(layer.attention, name, merged)


# --8<-- [end:model]
