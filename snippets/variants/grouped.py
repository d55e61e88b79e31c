from torch import Tensor, nn

from transformer import MultiHeadAttention


class GroupedQueryAttention(MultiHeadAttention):
    """Multi-head attention whose query heads share keys and values.

    Each of num_kv_heads heads of keys and values serves nhead / num_kv_heads
    neighboring query heads. With num_kv_heads = nhead it is
    MultiHeadAttention, with 1 it is multi-query attention. Called likewise.
    Raises ValueError for a num_kv_heads that does not divide nhead.
    Source: Ainslie et al. 2023, section 2.2; Shazeer 2019, section 3.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        num_kv_heads: int,
        dropout: float = 0.0,
    ):
        super().__init__(d_model, nhead, dropout)
        if num_kv_heads < 1 or nhead % num_kv_heads:
            raise ValueError(
                "nhead must be divisible by num_kv_heads, "
                f"got {nhead} and {num_kv_heads}"
            )
        self.head_dim = d_model // nhead
        self.key = nn.Linear(d_model, num_kv_heads * self.head_dim)
        self.value = nn.Linear(d_model, num_kv_heads * self.head_dim)

    def split(self, x: Tensor) -> Tensor:
        x = x.unflatten(-1, (-1, self.head_dim))  # (batch, n, heads, head_dim)
        x = x.transpose(1, 2)  # (batch, heads, n, head_dim)
        return x.repeat_interleave(self.nhead // x.size(1), dim=1)
