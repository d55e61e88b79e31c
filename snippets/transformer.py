# --8<-- [start:imports]
"""The Transformer of "Attention Is All You Need", read from top to bottom.

Shapes are written (batch, position, d_model); a head's are (batch, head,
position, head_dim). Source: Vaswani et al. 2017, arXiv:1706.03762.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn


# --8<-- [end:imports]
# --8<-- [start:configuration]
@dataclass(frozen=True)
class TransformerConfig:
    """Every size of the model; the defaults are the paper's base model.

    Source: Vaswani et al. 2017, section 3 and table 3.
    """

    src_vocab_size: int
    tgt_vocab_size: int
    d_model: int = 512
    nhead: int = 8
    num_encoder_layers: int = 6
    num_decoder_layers: int = 6
    dim_feedforward: int = 2048
    dropout: float = 0.1
    norm_first: bool = False
    max_len: int = 5000
    pad_id: int = 0
    tie_embeddings: bool = False
    layer_norm_eps: float = 1e-5


# --8<-- [end:configuration]
# --8<-- [start:token_embedding]
class TokenEmbedding(nn.Module):
    """One learned vector for each token, times sqrt(d_model).

    Shapes: ids (batch, position), int64 or int32 -> (batch, position, d_model).
    Vectors start as N(0, 1 / d_model). That of padding_idx starts as zero and
    gets no gradient. Raises ValueError for ids of another shape or type, for
    no ids, and for an id or padding_idx outside 0 .. vocab_size - 1.
    Source: Vaswani et al. 2017, section 3.4.
    """

    def __init__(
        self, vocab_size: int, d_model: int, padding_idx: int | None = None
    ):
        super().__init__()
        if padding_idx is not None and not 0 <= padding_idx < vocab_size:
            raise ValueError(f"{padding_idx=} is not in 0 .. {vocab_size - 1}")
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        if padding_idx is not None:  # normal_ has filled this row too
            nn.init.zeros_(self.embedding.weight[padding_idx])
        self.scale = math.sqrt(d_model)

    def forward(self, ids: Tensor) -> Tensor:
        if ids.dim() != 2 or ids.dtype not in (torch.int64, torch.int32):
            raise ValueError(
                "ids must be integers of shape (batch, position), "
                f"got {ids.dtype} of shape {tuple(ids.shape)}"
            )
        if ids.numel() == 0:
            raise ValueError(f"no ids: shape {tuple(ids.shape)} is empty")
        vocab_size = self.embedding.num_embeddings
        if ids.min() < 0 or ids.max() >= vocab_size:
            raise ValueError(
                f"ids must lie in 0 .. {vocab_size - 1}, "
                f"got {ids.min()} .. {ids.max()}"
            )
        return self.embedding(ids) * self.scale  # (batch, position, d_model)


# --8<-- [end:token_embedding]
# --8<-- [start:sinusoidal_table]
def sinusoidal_positional_encoding(
    max_len: int, d_model: int, base: float = 10000.0
) -> Tensor:
    """The table PE of shape (max_len, d_model), float32.

    PE[p, 2i] = sin(p / base^(2i / d_model)), and PE[p, 2i + 1] is the cosine
    of the same angle; i = 0 .. d_model / 2 - 1 counts pairs of columns.
    Computed in float64, since float32 angles lose digits as p grows.
    Raises ValueError for an odd d_model, a size below 1 and a base below 0.
    Source: Vaswani et al. 2017, section 3.5.
    """
    if max_len < 1:
        raise ValueError(f"max_len must be at least 1, got {max_len}")
    if d_model < 2 or d_model % 2:
        raise ValueError(
            "d_model must be even, a sine and a cosine for each frequency, "
            f"got {d_model}"
        )
    if not base > 0:
        raise ValueError(f"base must be positive, got {base}")
    position = torch.arange(max_len, dtype=torch.float64)  # (max_len,)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)  # the 2i
    frequency = base ** (-even / d_model)  # (d_model / 2,)
    angle = position.unsqueeze(1) * frequency  # (max_len, d_model / 2)
    table = torch.empty(max_len, d_model, dtype=torch.float32)
    table[:, 0::2] = angle.sin()
    table[:, 1::2] = angle.cos()
    return table


# --8<-- [end:sinusoidal_table]
# --8<-- [start:positional_encoding]
class PositionalEncoding(nn.Module):
    """Adds the sinusoidal table to the token vectors, then dropout.

    Shapes: (batch, position, d_model) -> the same.
    Raises ValueError for more than max_len positions.
    Source: Vaswani et al. 2017, sections 3.5 and 5.4.
    """

    table: Tensor  # (max_len, d_model)

    def __init__(self, d_model: int, max_len: int = 5000, dropout: float = 0.1):
        super().__init__()
        table = sinusoidal_positional_encoding(max_len, d_model)
        self.register_buffer("table", table, persistent=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        length, max_len = x.size(1), self.table.size(0)
        if length > max_len:
            raise ValueError(
                f"{length} positions, but the table has {max_len}: "
                "make it with a larger max_len"
            )
        return self.dropout(x + self.table[:length])


# --8<-- [end:positional_encoding]
