# --8<-- [start:attention]
from einops import einsum, rearrange
from torch import Tensor, nn


class Attention(nn.Module):
    """Self-attention with its norm inside: queries, keys and values at once.

    Shapes: x (batch, n, dim) -> the same; dim need not be heads * dim_head.
    Source: Dosovitskiy et al. 2020, appendix A.
    """

    def __init__(
        self, dim: int, heads: int = 8, dim_head: int = 64, dropout: float = 0.0
    ):
        super().__init__()
        inner = heads * dim_head
        project_out = heads > 1 or dim_head != dim
        self.heads = heads
        self.scale = dim_head**-0.5
        self.norm = nn.LayerNorm(dim)
        self.to_qkv = nn.Linear(dim, 3 * inner, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.to_out = nn.Identity()
        if project_out:
            last = nn.Linear(inner, dim), nn.Dropout(dropout)
            self.to_out = nn.Sequential(*last)

    # --8<-- [end:attention]
    # --8<-- [start:attention_forward]
    def forward(self, x: Tensor) -> Tensor:
        parts = self.to_qkv(self.norm(x)).chunk(3, dim=-1)  # 3 (b, n, h d)
        q, k, v = (
            rearrange(part, "b n (h d) -> b h n d", h=self.heads)
            for part in parts
        )
        scores = einsum(q, k, "b h n d, b h m d -> b h n m") * self.scale
        weights = self.dropout(scores.softmax(dim=-1))
        heads = einsum(weights, v, "b h n m, b h m d -> b h n d")
        return self.to_out(rearrange(heads, "b h n d -> b n (h d)"))


# --8<-- [end:attention_forward]
# --8<-- [start:encoder]
def feed_forward(dim: int, hidden_dim: int, dropout: float) -> nn.Module:
    """The other sublayer, likewise with its norm inside."""
    return nn.Sequential(
        nn.LayerNorm(dim),
        nn.Linear(dim, hidden_dim),
        nn.GELU(),
        nn.Dropout(dropout),
        nn.Linear(hidden_dim, dim),
        nn.Dropout(dropout),
    )


class EinopsEncoder(nn.Module):
    """A pre-norm encoder without a mask, as vision Transformers are written.

    Equal to Encoder with norm_first, GELU, and no bias before the attention.
    Shapes: x (batch, n, dim) -> the same.
    """

    def __init__(
        self,
        dim: int,
        depth: int,
        heads: int,
        dim_head: int,
        hidden_dim: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.attentions = nn.ModuleList(
            Attention(dim, heads, dim_head, dropout) for _ in range(depth)
        )
        self.networks = nn.ModuleList(
            feed_forward(dim, hidden_dim, dropout) for _ in range(depth)
        )
        self.norm = nn.LayerNorm(dim)

    def forward(self, x: Tensor) -> Tensor:
        for attention, network in zip(
            self.attentions, self.networks, strict=True
        ):
            x = attention(x) + x
            x = network(x) + x
        return self.norm(x)


# --8<-- [end:encoder]
