# --8<-- [start:indexer]
"""Learned sparse attention: an indexer chooses the tokens that are attended."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from variants.latent_attention import LatentAttention
from variants.newer_attention import rotate_first
from variants.rope_scaling import rope_frequencies
from variants.rotary import rotate


class Indexer(nn.Module):
    """Scores earlier tokens with a few narrow heads and chooses the best.

    Shapes: x (batch, n, d_model), short queries (batch, n, query_rank),
    positions (n,) and the indexer's keys of all m tokens (batch, m, head_dim)
    -> bool (batch, n, m), True at the top_k chosen tokens of each query.
    Source: DeepSeek-AI 2025, DeepSeek-V3.2, equations 1 and 2.
    """

    def __init__(
        self,
        d_model: int = 7168,  # the defaults are those of DeepSeek-V3.2
        query_rank: int = 1536,
        nhead: int = 64,
        head_dim: int = 128,
        rope_dim: int = 64,
        top_k: int = 2048,
        base: float = 10000.0,
    ):
        super().__init__()
        self.nhead, self.top_k = nhead, top_k
        self.frequency, _ = rope_frequencies(rope_dim, base)
        self.query = nn.Linear(query_rank, nhead * head_dim, bias=False)
        self.key = nn.Linear(d_model, head_dim, bias=False)
        self.key_norm = nn.LayerNorm(head_dim, 1e-6)
        self.weight = nn.Linear(d_model, nhead, bias=False)

    def forward(
        self, x: Tensor, short: Tensor, positions: Tensor, keys: Tensor
    ) -> Tensor:
        q = self.query(short).unflatten(-1, (self.nhead, -1)).transpose(1, 2)
        matches = self.rotate(q, positions) @ keys.unsqueeze(1).mT
        weight = self.weight(x).mT.unsqueeze(-1)  # (batch, nhead, n, 1)
        scores = (weight * matches.relu()).sum(dim=1)  # (batch, n, m)
        number = torch.arange(keys.size(1), device=x.device)
        later = number > positions.unsqueeze(1)  # (n, m)
        scores = scores.masked_fill(later, -torch.inf)
        best = scores.topk(min(self.top_k, keys.size(1))).indices
        chosen = torch.zeros_like(scores, dtype=torch.bool)
        return chosen.scatter(-1, best, True) & ~later

    def make_keys(self, x: Tensor, positions: Tensor) -> Tensor:
        return self.rotate(self.key_norm(self.key(x)), positions)

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        frequency = self.frequency.to(x.device)
        return rotate_first(x, positions.unsqueeze(1) * frequency)


# --8<-- [end:indexer]
# --8<-- [start:attention]
class SparseLatentAttention(LatentAttention):
    """LatentAttention over the tokens that an indexer chooses.

    Shapes: x (batch, n, d_model), and of the p tokens before, the cache
    (batch, p, kv_rank + rope_dim + width of the indexer's keys) ->
    (batch, n, d_model) and the cache of p + n tokens.
    Source: DeepSeek-AI 2025, DeepSeek-V3.2, equations 1 and 2.
    """

    def __init__(self, indexer: Indexer, **sizes: Any):
        super().__init__(**sizes)
        self.indexer = indexer

    def forward(
        self, x: Tensor, cache: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        start = 0 if cache is None else cache.size(1)
        positions = torch.arange(start, start + x.size(1), device=x.device)
        short = self.query_norm(self.query_down(x))  # (batch, n, query_rank)
        q, q_rope = self.split(self.query_up(short)).split(
            [self.head_dim, self.rope_dim], dim=-1
        )
        q = torch.cat([q, rotate(q_rope, positions, self.base)], dim=-1)
        rank = self.kv_norm.weight.numel()
        latent, k_rope = self.kv_down(x).split([rank, self.rope_dim], dim=-1)
        k_rope = rotate(k_rope, positions, self.base)
        index_keys = self.indexer.make_keys(x, positions)
        new = torch.cat([self.kv_norm(latent), k_rope, index_keys], dim=-1)
        cache = new if cache is None else torch.cat([cache, new], dim=1)
        latent, k_rope, index_keys = cache.tensor_split(
            [rank, rank + self.rope_dim], dim=-1
        )
        k, v = self.split(self.kv_up(latent)).chunk(2, dim=-1)
        k_rope = k_rope.unsqueeze(1).expand(-1, self.nhead, -1, -1)
        k = torch.cat([k, k_rope], dim=-1)
        chosen = self.indexer(x, short, positions, index_keys)  # (batch, n, m)
        heads = F.scaled_dot_product_attention(q, k, v, chosen.unsqueeze(1))
        return self.output(heads.transpose(1, 2).flatten(2)), cache


# --8<-- [end:attention]
