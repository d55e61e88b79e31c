"""Multi-head latent attention: keys and values are made from a short vector."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from variants.rmsnorm import RMSNorm
from variants.rotary import rotate


# --8<-- [start:latent_attention]
class LatentAttention(nn.Module):
    """Causal attention whose cache has kv_rank + rope_dim numbers a token.

    Shapes: x (batch, n, d_model) and cache (batch, p, kv_rank + rope_dim), of
    the p tokens before -> (batch, n, d_model), (batch, p + n, the same).
    Source: DeepSeek-AI 2024, section 2.1 and appendix C.
    """

    def __init__(
        self,
        d_model: int = 7168,  # the defaults are those of DeepSeek-V3
        nhead: int = 128,
        query_rank: int = 1536,
        kv_rank: int = 512,
        head_dim: int = 128,  # of queries and keys without position, of values
        rope_dim: int = 64,  # of queries and keys with position
        base: float = 10000.0,
        eps: float = 1e-6,
    ):
        super().__init__()
        self.nhead, self.base = nhead, base
        self.head_dim, self.rope_dim = head_dim, rope_dim
        both = head_dim + rope_dim
        self.query_down = nn.Linear(d_model, query_rank, bias=False)
        self.query_norm = RMSNorm(query_rank, eps)
        self.query_up = nn.Linear(query_rank, nhead * both, bias=False)
        self.kv_down = nn.Linear(d_model, kv_rank + rope_dim, bias=False)
        self.kv_norm = RMSNorm(kv_rank, eps)
        self.kv_up = nn.Linear(kv_rank, nhead * 2 * head_dim, bias=False)
        self.output = nn.Linear(nhead * head_dim, d_model, bias=False)

    def forward(
        self, x: Tensor, cache: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        start = 0 if cache is None else cache.size(1)
        positions = torch.arange(start, start + x.size(1), device=x.device)
        q = self.split(self.query_up(self.query_norm(self.query_down(x))))
        q, q_rope = q.split([self.head_dim, self.rope_dim], dim=-1)
        q = torch.cat([q, rotate(q_rope, positions, self.base)], dim=-1)
        latent, k_rope = self.kv_down(x).split(
            [self.kv_norm.weight.numel(), self.rope_dim], dim=-1
        )
        k_rope = rotate(k_rope, positions, self.base)  # one for all heads
        new = torch.cat([self.kv_norm(latent), k_rope], dim=-1)
        cache = new if cache is None else torch.cat([cache, new], dim=1)
        latent, k_rope = (
            cache[..., : -self.rope_dim],
            cache[..., -self.rope_dim :],
        )
        k, v = self.split(self.kv_up(latent)).chunk(2, dim=-1)
        k_rope = k_rope.unsqueeze(1).expand(-1, self.nhead, -1, -1)
        k = torch.cat([k, k_rope], dim=-1)  # (batch, nhead, m, both)
        keys = torch.arange(k.size(2), device=x.device)
        mask = positions.unsqueeze(1) >= keys  # (n, m)
        heads = F.scaled_dot_product_attention(q, k, v, mask)
        return self.output(heads.transpose(1, 2).flatten(2)), cache

    def split(self, x: Tensor) -> Tensor:
        x = x.unflatten(-1, (self.nhead, -1))  # (batch, n, nhead, features)
        return x.transpose(1, 2)  # (batch, nhead, n, features)


# --8<-- [end:latent_attention]
