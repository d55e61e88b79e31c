"""Rotary positions (RoPE): queries and keys are turned, nothing is added."""

import torch
from torch import Tensor

from transformer import (
    MultiHeadAttention,
    fused_attention,
    scaled_dot_product_attention,
)


# --8<-- [start:rotate]
def rotate(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turns the pair of features (2t, 2t + 1) by p / base^(2t / head_dim).

    Shapes: x (..., n, head_dim), positions p (n,) -> that of x. Angles are
    computed in float64. Raises ValueError for an odd head_dim.
    Source: Su et al. 2021, section 3.
    """
    head_dim = x.size(-1)
    if head_dim % 2:
        raise ValueError(f"head_dim must be even, to make pairs: {head_dim}")
    even = torch.arange(0, head_dim, 2, dtype=torch.float64, device=x.device)
    angle = positions.unsqueeze(1) * base ** (-even / head_dim)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]  # (..., n, head_dim / 2)
    turned = first * cos - second * sin, first * sin + second * cos
    return torch.stack(turned, dim=-1).flatten(-2)  # (..., n, head_dim)


# --8<-- [end:rotate]
# --8<-- [start:rotary_attention]
class RotaryAttention(MultiHeadAttention):
    """Self-attention whose queries and keys are turned by their positions.

    Shapes and errors: as MultiHeadAttention; also ValueError if there are not
    as many queries as keys. Source: Su et al. 2021, section 3.
    """

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        n, m = query.size(1), key.size(1)
        if n != m:
            raise ValueError(f"self-attention only: {n} queries, {m} keys")
        positions = torch.arange(n, device=query.device)
        q = rotate(self.split(self.query(query)), positions)
        k = rotate(self.split(self.key(key)), positions)
        v = self.split(self.value(value))  # values are not turned
        attend = (
            scaled_dot_product_attention if need_weights else fused_attention
        )
        dropout = self.dropout if self.training else 0.0
        heads, weights = attend(q, k, v, mask, dropout)
        joined = heads.transpose(1, 2).flatten(2)  # (batch, n, d_model)
        return self.output(joined), weights


# --8<-- [end:rotary_attention]
