# --8<-- [start:learned_positions]
"""Learned positions: one trained vector for each place."""

import torch
from torch import Tensor, nn


class LearnedPositions(nn.Module):
    """Adds a learned row to the vector at each position, then dropout.

    Takes the place of PositionalEncoding. Rows start as N(0, 1 / 2), as large
    on average as the sinusoids. Shapes: (batch, position, d_model) -> the
    same. Raises ValueError for more than max_len positions.
    Source: Gehring et al. 2017, section 3.1; Vaswani et al. 2017, section 3.5.
    """

    def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
        super().__init__()
        self.table = nn.Parameter(torch.empty(max_len, d_model))
        nn.init.normal_(self.table, std=0.5**0.5)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        length, max_len = x.size(1), self.table.size(0)
        if length > max_len:
            raise ValueError(
                f"{length} positions, but only {max_len} were learned"
            )
        return self.dropout(x + self.table[:length])


# --8<-- [end:learned_positions]
