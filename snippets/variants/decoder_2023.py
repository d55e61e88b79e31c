# --8<-- [start:configuration]
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer import initialize
from variants.rmsnorm import RMSNorm
from variants.rotary import rotate
from variants.swiglu import SwiGLU


@dataclass(frozen=True)
class DecoderConfig:
    """Every size of the model; the defaults are those of LLaMA 7B.

    Source: Touvron et al. 2023, section 2.2 and table 2, which do not give
    norm_eps; 1e-5 is that of LLaMA 2, and LLaMA has 1e-6.
    """

    vocab_size: int
    d_model: int = 4096
    nhead: int = 32
    num_kv_heads: int = 32
    num_layers: int = 32
    dim_feedforward: int = 11008
    dropout: float = 0.0
    base: float = 10000.0
    norm_eps: float = 1e-5
    pad_id: int = 0


# --8<-- [end:configuration]
# --8<-- [start:attention]
class CausalSelfAttention(nn.Module):
    """Rotary positions and grouped queries, causal, without biases.

    Shapes: x (batch, n, d_model), positions (n,) -> (batch, n, d_model).
    """

    def __init__(self, config: DecoderConfig):
        super().__init__()
        d = config.d_model
        if d % config.nhead or config.nhead % config.num_kv_heads:
            raise ValueError(
                "nhead must divide d_model, and num_kv_heads nhead, got "
                f"{d}, {config.nhead} and {config.num_kv_heads}"
            )
        self.head_dim = d // config.nhead
        self.base, self.dropout = config.base, config.dropout
        shared = config.num_kv_heads * self.head_dim
        self.query = nn.Linear(d, d, bias=False)
        self.key = nn.Linear(d, shared, bias=False)
        self.value = nn.Linear(d, shared, bias=False)
        self.output = nn.Linear(d, d, bias=False)

    # --8<-- [end:attention]
    # --8<-- [start:attention_forward]
    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        q = rotate(self.split(self.query(x)), positions, self.base)
        k = rotate(self.split(self.key(x)), positions, self.base)
        v = self.split(self.value(x))  # (batch, num_kv_heads, n, head_dim)
        heads = F.scaled_dot_product_attention(
            q,
            k,
            v,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=True,
            enable_gqa=True,
        )  # (batch, nhead, n, head_dim)
        return self.output(heads.transpose(1, 2).flatten(2))

    def split(self, x: Tensor) -> Tensor:
        x = x.unflatten(-1, (-1, self.head_dim))  # (batch, n, heads, head_dim)
        return x.transpose(1, 2)  # (batch, heads, n, head_dim)


# --8<-- [end:attention_forward]
# --8<-- [start:layer]
class Layer(nn.Module):
    """Attention, then SwiGLU; RMSNorm before each, x added after each."""

    def __init__(self, config: DecoderConfig):
        super().__init__()
        d, dropout = config.d_model, config.dropout
        self.attention_norm = RMSNorm(d, config.norm_eps)
        self.attention = CausalSelfAttention(config)
        self.feed_forward_norm = RMSNorm(d, config.norm_eps)
        self.feed_forward = SwiGLU(d, config.dim_feedforward, dropout)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        attended = self.attention(self.attention_norm(x), positions)
        x = x + self.drop(attended)
        return x + self.drop(self.feed_forward(self.feed_forward_norm(x)))


# --8<-- [end:layer]
# --8<-- [start:decoder]
class Decoder2023(nn.Module):
    """A decoder alone, as LLaMA has it: ids in, logits of the next out.

    Shapes: ids (batch, n), padded on the right, and positions (n,), which are
    0 .. n - 1 unless given -> (batch, n, vocab_size). Nothing limits n.
    Source: Touvron et al. 2023, section 2.2.
    """

    def __init__(self, config: DecoderConfig):
        super().__init__()
        d = config.d_model
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, d, config.pad_id)
        self.layers = nn.ModuleList(
            Layer(config) for _ in range(config.num_layers)
        )
        self.norm = RMSNorm(d, config.norm_eps)
        self.output = nn.Linear(d, config.vocab_size, bias=False)
        self.apply(initialize)

    def forward(self, ids: Tensor, positions: Tensor | None = None) -> Tensor:
        if positions is None:
            positions = torch.arange(ids.size(1), device=ids.device)
        x = self.embedding(ids)  # (batch, n, d_model)
        for layer in self.layers:
            x = layer(x, positions)
        return self.output(self.norm(x))  # (batch, n, vocab_size)


# --8<-- [end:decoder]
