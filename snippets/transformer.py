# --8<-- [start:imports]
"""The Transformer of "Attention Is All You Need", read from top to bottom.

Shapes are written (batch, position, d_model); a head's are (batch, head,
position, head_dim). Source: Vaswani et al. 2017, arXiv:1706.03762.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


# --8<-- [end:imports]
# --8<-- [start:configuration]
@dataclass(frozen=True)
class TransformerConfig:
    """All settings; by default, the paper's base model with three tables."""

    src_vocab_size: int  # size of the source vocabulary
    tgt_vocab_size: int  # size of the target vocabulary
    d_model: int = 512  # numbers per vector
    nhead: int = 8  # heads in each attention
    num_encoder_layers: int = 6
    num_decoder_layers: int = 6
    dim_feedforward: int = 2048  # hidden units of the feed-forward network
    dropout: float = 0.1  # fraction of numbers set to 0 in training
    norm_first: bool = False  # pre-norm instead of post-norm
    max_len: int = 5000  # longest sequence
    pad_id: int = 0  # id of <pad>
    tie_embeddings: bool = False  # one table for target and output
    layer_norm_eps: float = 1e-5  # epsilon in LayerNorm


# --8<-- [end:configuration]
# --8<-- [start:token_embedding]
class TokenEmbedding(nn.Module):
    """One learned vector for each token, times sqrt(d_model).

    Shapes: ids (batch, position) -> (batch, position, d_model). Vectors start
    as N(0, 1 / d_model), that of padding_idx as zero. Raises ValueError for
    ids of another shape. Source: Vaswani et al. 2017, section 3.4.
    """

    def __init__(
        self, vocab_size: int, d_model: int, padding_idx: int | None = None
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        if padding_idx is not None:  # normal_ has filled this row too
            nn.init.zeros_(self.embedding.weight[padding_idx])
        self.scale = math.sqrt(d_model)

    def forward(self, ids: Tensor) -> Tensor:
        if ids.dim() != 2:
            raise ValueError(f"ids must be (batch, position), got {ids.shape}")
        return self.embedding(ids) * self.scale  # (batch, position, d_model)


# --8<-- [end:token_embedding]
# --8<-- [start:sinusoidal_table]
def sinusoidal_positional_encoding(
    max_len: int, d_model: int, base: float = 10000.0
) -> Tensor:
    """The table PE of shape (max_len, d_model), float32.

    PE[p, 2i] = sin(p / base^(2i / d_model)), and PE[p, 2i + 1] is the cosine
    of the same angle; i = 0 .. d_model / 2 - 1 counts pairs of columns.
    Computed in float64, since float32 angles lose digits as p grows. Raises
    ValueError for an odd d_model. Source: Vaswani et al. 2017, section 3.5.
    """
    if d_model < 2 or d_model % 2:
        raise ValueError(f"d_model must be even, got {d_model}")
    position = torch.arange(max_len, dtype=torch.float64)  # (max_len,)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)  # the 2i
    frequency = base ** (-even / d_model)  # (d_model / 2,)
    angle = position.unsqueeze(1) * frequency  # (max_len, d_model / 2)
    table = torch.empty(max_len, d_model, dtype=torch.float32)
    table[:, 0::2] = angle.sin()  # columns 0, 2, 4, ...
    table[:, 1::2] = angle.cos()  # columns 1, 3, 5, ...
    return table


# --8<-- [end:sinusoidal_table]
# --8<-- [start:positional_encoding]
class PositionalEncoding(nn.Module):
    """Adds the sinusoidal table to the token vectors, then dropout.

    Shapes: (batch, position, d_model) -> the same. Raises ValueError for more
    than max_len positions. Source: Vaswani et al. 2017, sections 3.5 and 5.4.
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
            raise ValueError(f"{length} positions, but max_len is {max_len}")
        # the first rows of the table, for each sentence of the batch
        return self.dropout(x + self.table[:length])


# --8<-- [end:positional_encoding]
# --8<-- [start:scaled_dot_product_attention]
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    dropout: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """softmax(Q K^T / sqrt(d_k)) V, and the weights: the paper's equation 1.

    Shapes: query (..., n, d_k), key (..., m, d_k), value (..., m, d_v), mask
    (..., n, m) -> output (..., n, d_v), weights (..., n, m). The mask is
    boolean, True may attend; a query that may attend to no key gets zeros.
    Raises ValueError or RuntimeError for a wrong mask (see check_mask).
    """
    # score: compare every query with every key
    scores = query @ key.transpose(-2, -1)  # (..., n, m)
    scores = scores / math.sqrt(query.size(-1))

    # weight: turn each row of scores into weights
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        check_mask(mask, scores.shape)
        lowest = torch.finfo(scores.dtype).min
        weights = scores.masked_fill(~mask, lowest).softmax(dim=-1)
        weights = weights.masked_fill(~mask, 0.0)  # a row of all False: zeros

    # average the values; dropout is 0 except in training
    return F.dropout(weights, dropout) @ value, weights


# --8<-- [end:scaled_dot_product_attention]
# --8<-- [start:check_mask]
def check_mask(mask: Tensor, shape: torch.Size) -> None:
    """Raise an error unless mask is boolean and broadcasts to shape."""
    if mask.dtype != torch.bool:
        raise ValueError(f"masks are boolean, True may attend: {mask.dtype}")
    mask.expand(shape)  # a RuntimeError names the axis that doesn't fit


# --8<-- [end:check_mask]
# --8<-- [start:fused_attention]
def fused_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    dropout: float = 0.0,
) -> tuple[Tensor, None]:
    """The same by PyTorch's own attention, which need not store the weights.

    Since PyTorch 2.5 a query with no key gets zeros here too.
    """
    if mask is not None:
        check_mask(mask, torch.Size((*query.shape[:-1], key.size(-2))))
        mask = torch.atleast_2d(mask)  # the kernel asks for two axes
    x = F.scaled_dot_product_attention(query, key, value, mask, dropout)
    return x, None


# --8<-- [end:fused_attention]
# --8<-- [start:multi_head_attention]
class MultiHeadAttention(nn.Module):
    """Attention in nhead heads at once: Concat(head_0, head_1, ...) W^O.

    Shapes: query (batch, n, d_model), key and value (batch, m, d_model), mask
    broadcasting to (batch, nhead, n, m), boolean, True may attend
    -> (batch, n, d_model) and, if need_weights, (batch, nhead, n, m).
    Without need_weights PyTorch's fused attention does the same work.
    Raises ValueError for a d_model that nhead does not divide.
    Source: Vaswani et al. 2017, section 3.2.2.
    """

    def __init__(self, d_model: int, nhead: int, dropout: float = 0.0):
        super().__init__()
        if nhead < 1 or d_model % nhead:
            raise ValueError(f"{nhead=} must divide {d_model=}")
        self.nhead = nhead
        self.dropout = dropout
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        # project the tokens, and split the features into heads
        q = self.split(self.query(query))  # (batch, head, n, head_dim)
        k = self.split(self.key(key))  # (batch, head, m, head_dim)
        v = self.split(self.value(value))

        # attend in all heads; only the explicit function returns weights
        attend = (
            scaled_dot_product_attention if need_weights else fused_attention
        )
        dropout = self.dropout if self.training else 0.0
        heads, weights = attend(q, k, v, mask, dropout)

        # join the heads side by side, and combine them with W^O
        joined = heads.transpose(1, 2).flatten(2)  # (batch, n, d_model)
        return self.output(joined), weights

    def split(self, x: Tensor) -> Tensor:
        x = x.unflatten(-1, (self.nhead, -1))  # (batch, n, head, head_dim)
        return x.transpose(1, 2)  # (batch, head, n, head_dim)


# --8<-- [end:multi_head_attention]
# --8<-- [start:padding_mask]
def padding_mask(ids: Tensor, pad_id: int = 0) -> Tensor:
    """True where a key is a real token.

    Shapes: ids (batch, n) -> (batch, 1, 1, n), for all heads and queries.
    """
    return (ids != pad_id)[:, None, None, :]


# --8<-- [end:padding_mask]
# --8<-- [start:causal_mask]
def causal_mask(size: int, device: torch.device | None = None) -> Tensor:
    """True where the key is at or before the query: (1, 1, size, size).

    Source: Vaswani et al. 2017, section 3.2.3.
    """
    full = torch.ones(1, 1, size, size, dtype=torch.bool, device=device)
    return full.tril()


# --8<-- [end:causal_mask]
# --8<-- [start:feed_forward]
class FeedForward(nn.Module):
    """Position-wise feed-forward network, FFN(x) = max(0, x W1 + b1) W2 + b2.

    Shapes: (batch, position, d_model) -> the same.
    Source: Vaswani et al. 2017, section 3.3.
    """

    def __init__(
        self, d_model: int, dim_feedforward: int, dropout: float = 0.1
    ):
        super().__init__()
        self.linear1 = nn.Linear(d_model, dim_feedforward)
        self.linear2 = nn.Linear(dim_feedforward, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.linear1(x).relu()  # (batch, position, dim_feedforward)
        return self.linear2(self.dropout(hidden))


# --8<-- [end:feed_forward]
# --8<-- [start:layer_norm]
class LayerNorm(nn.Module):
    """(x - mean) / sqrt(variance + eps) * weight + bias, over the last axis.

    Equal to nn.LayerNorm. Shapes: (..., d_model) -> the same.
    Source: Ba et al. 2016, sections 3 and 3.1.
    """

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return F.layer_norm(
            x, self.weight.shape, self.weight, self.bias, self.eps
        )


# --8<-- [end:layer_norm]
# --8<-- [start:encoder_layer]
class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network.

    Shapes: x (batch, n, d_model), mask broadcasting to (batch, nhead, n, n)
    -> (batch, n, d_model). Source: Vaswani et al. 2017, section 3.1.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        d, dropout = config.d_model, config.dropout
        self.self_attention = MultiHeadAttention(d, config.nhead, dropout)
        self.feed_forward = FeedForward(d, config.dim_feedforward, dropout)
        self.norm1 = LayerNorm(d, config.layer_norm_eps)
        self.norm2 = LayerNorm(d, config.layer_norm_eps)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = config.norm_first

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.norm_first:  # pre-norm: LayerNorm before each sublayer
            x = x + self.attend(self.norm1(x), mask)
            return x + self.dropout(self.feed_forward(self.norm2(x)))
        # post-norm, as in the paper: sublayer, sum, LayerNorm
        x = self.norm1(x + self.attend(x, mask))
        return self.norm2(x + self.dropout(self.feed_forward(x)))

    def attend(self, x: Tensor, mask: Tensor | None) -> Tensor:
        return self.dropout(self.self_attention(x, x, x, mask)[0])


# --8<-- [end:encoder_layer]
# --8<-- [start:encoder]
class Encoder(nn.Module):
    """num_encoder_layers layers; a last LayerNorm only if norm_first.

    Shapes: as EncoderLayer. Source: Vaswani et al. 2017, section 3.1.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        count = config.num_encoder_layers
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(count))
        norm = LayerNorm(config.d_model, config.layer_norm_eps)
        self.norm = norm if config.norm_first else nn.Identity()

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


# --8<-- [end:encoder]
# --8<-- [start:decoder_layer]
class DecoderLayer(nn.Module):
    """Self-attention, cross-attention to memory, the feed-forward network.

    Shapes: x (batch, n, d_model), memory (batch, m, d_model), masks
    broadcasting to (batch, nhead, n, n) and (batch, nhead, n, m)
    -> (batch, n, d_model). Source: Vaswani et al. 2017, section 3.1.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        d, dropout = config.d_model, config.dropout
        self.self_attention = MultiHeadAttention(d, config.nhead, dropout)
        self.cross_attention = MultiHeadAttention(d, config.nhead, dropout)
        self.feed_forward = FeedForward(d, config.dim_feedforward, dropout)
        self.norm1 = LayerNorm(d, config.layer_norm_eps)
        self.norm2 = LayerNorm(d, config.layer_norm_eps)
        self.norm3 = LayerNorm(d, config.layer_norm_eps)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = config.norm_first

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        if self.norm_first:  # pre-norm: LayerNorm before each sublayer
            x = x + self.attend(self.norm1(x), mask)
            x = x + self.read(self.norm2(x), memory, memory_mask)
            return x + self.dropout(self.feed_forward(self.norm3(x)))
        # post-norm: self-attention, cross-attention, feed-forward network
        x = self.norm1(x + self.attend(x, mask))
        x = self.norm2(x + self.read(x, memory, memory_mask))
        return self.norm3(x + self.dropout(self.feed_forward(x)))

    def attend(self, x: Tensor, mask: Tensor | None) -> Tensor:
        return self.dropout(self.self_attention(x, x, x, mask)[0])

    def read(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        return self.dropout(self.cross_attention(x, memory, memory, mask)[0])


# --8<-- [end:decoder_layer]
# --8<-- [start:decoder]
class Decoder(nn.Module):
    """num_decoder_layers layers, each reading the same memory.

    Shapes: as DecoderLayer. Source: Vaswani et al. 2017, section 3.1.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        count = config.num_decoder_layers
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(count))
        norm = LayerNorm(config.d_model, config.layer_norm_eps)
        self.norm = norm if config.norm_first else nn.Identity()

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        for layer in self.layers:
            x = layer(x, memory, mask, memory_mask)
        return self.norm(x)


# --8<-- [end:decoder]
# --8<-- [start:initialization]
def initialize(module: nn.Module) -> None:
    """Xavier-uniform weights and zero biases, for a linear layer.

    Source: Glorot and Bengio 2010, equation 16.
    """
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


# --8<-- [end:initialization]
# --8<-- [start:transformer]
class Transformer(nn.Module):
    """The encoder-decoder model: source and target ids in, logits out.

    Shapes: src (batch, m), tgt (batch, n) -> (batch, n, tgt_vocab_size).
    Source: Vaswani et al. 2017, figure 1 and section 3.4.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        d, pad = config.d_model, config.pad_id
        self.config = config
        # from ids to vectors
        self.src_embedding = TokenEmbedding(config.src_vocab_size, d, pad)
        self.tgt_embedding = TokenEmbedding(config.tgt_vocab_size, d, pad)
        self.position = PositionalEncoding(d, config.max_len, config.dropout)
        # the two stacks, then from vectors to logits
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.output = nn.Linear(d, config.tgt_vocab_size, bias=False)
        self.apply(initialize)
        if config.tie_embeddings:
            self.output.weight = self.tgt_embedding.embedding.weight

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        memory = self.encode(src)  # (batch, m, d_model)
        memory_mask = padding_mask(src, self.config.pad_id)
        return self.logits(self.decode(tgt, memory, memory_mask))

    def encode(self, src: Tensor) -> Tensor:
        """Source ids (batch, m) -> memory (batch, m, d_model)."""
        x = self.position(self.src_embedding(src))
        return self.encoder(x, padding_mask(src, self.config.pad_id))

    def decode(
        self, tgt: Tensor, memory: Tensor, memory_mask: Tensor | None = None
    ) -> Tensor:
        """Target ids (batch, n) and memory -> (batch, n, d_model)."""
        x = self.position(self.tgt_embedding(tgt))
        if memory.size(0) != tgt.size(0):
            raise ValueError(f"{memory.size(0)} sources, {tgt.size(0)} targets")
        # a key must be real and not later than the query
        mask = causal_mask(tgt.size(1), tgt.device)
        mask = mask & padding_mask(tgt, self.config.pad_id)
        return self.decoder(x, memory, mask, memory_mask)

    def logits(self, x: Tensor) -> Tensor:
        """(..., d_model) -> (..., tgt_vocab_size)."""
        return self.output(x)


# --8<-- [end:transformer]
