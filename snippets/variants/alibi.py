# --8<-- [start:alibi_bias]
"""ALiBi: what is further away scores less, by a slope for each head."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer import MultiHeadAttention, check_mask


def alibi_slopes(nhead: int) -> Tensor:
    """2^(-8 / nhead) and its powers, if nhead is a power of two.

    If not: the slopes of the power of two below, then every second one of the
    power above, as in the authors' code. Shape (nhead,).
    Source: Press et al. 2021, section 3.
    """
    power = 2 ** int(math.log2(nhead))
    slopes = [2 ** (-8 * i / power) for i in range(1, power + 1)]
    slopes += [2 ** (-4 * i / power) for i in range(1, 2 * power, 2)]
    return torch.tensor(slopes[:nhead])


def alibi_bias(size: int, nhead: int) -> Tensor:
    """-m |i - j| for query i and key j, m the slope of the head.

    Shape (1, nhead, size, size).
    """
    position = torch.arange(size)
    nearness = -(position[:, None] - position).abs()  # (size, size)
    return alibi_slopes(nhead)[None, :, None, None] * nearness


# --8<-- [end:alibi_bias]
# --8<-- [start:alibi_attention]
class ALiBiAttention(MultiHeadAttention):
    """Self-attention with alibi_bias added to its scores.

    Shapes and errors: as MultiHeadAttention; also ValueError if there are not
    as many queries as keys. Source: Press et al. 2021, section 3.
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
        q = self.split(self.query(query))  # (batch, head, n, head_dim)
        k, v = self.split(self.key(key)), self.split(self.value(value))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        scores = scores + alibi_bias(n, self.nhead).to(scores)
        if mask is None:
            mask = torch.ones_like(scores, dtype=torch.bool)
        check_mask(mask, scores.shape)
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1).masked_fill(~mask, 0.0)
        dropout = self.dropout if self.training else 0.0
        heads = F.dropout(weights, dropout) @ v
        joined = heads.transpose(1, 2).flatten(2)  # (batch, n, d_model)
        return self.output(joined), weights if need_weights else None


# --8<-- [end:alibi_attention]
