import torch
from torch import Tensor

from decode import CachedAttention
from transformer import MultiHeadAttention, fused_attention


class SharedHeadsCache(CachedAttention):
    """A CachedAttention that stores each shared head only once.

    It keeps what the linear layers return, before split repeats the heads.
    Shapes: key and value (batch, positions so far, num_kv_heads * head_dim).
    """

    def __init__(self, attention: MultiHeadAttention, x: Tensor):
        self.attention = attention
        self.key, self.value = attention.key(x), attention.value(x)

    def append(self, x: Tensor) -> None:
        new = SharedHeadsCache(self.attention, x)
        self.key = torch.cat([self.key, new.key], dim=1)
        self.value = torch.cat([self.value, new.value], dim=1)

    def __call__(self, x: Tensor, mask: Tensor) -> Tensor:
        parts = self.attention.query(x), self.key, self.value
        query, key, value = map(self.attention.split, parts)
        heads, _ = fused_attention(query, key, value, mask)
        return self.attention.output(heads.transpose(1, 2).flatten(2))
