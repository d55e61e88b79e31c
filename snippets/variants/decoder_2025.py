# --8<-- [start:configuration]
"""A decoder whose blocks are chosen by its configuration."""

import math
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer import initialize
from variants.experts import GatedFeedForward, MixtureOfExperts
from variants.rmsnorm import RMSNorm
from variants.rope_scaling import rope_frequencies, rotate_halves


@dataclass(frozen=True)
class DecoderConfig:
    """Every size and choice; the defaults are those of Qwen3 8B."""

    vocab_size: int = 151936
    d_model: int = 4096
    nhead: int = 32
    num_kv_heads: int = 8
    head_dim: int = 128
    num_layers: int = 36
    dim_feedforward: int = 12288  # of each expert, if there are experts
    activation: str = "silu"
    norm_eps: float = 1e-6
    qk_norm: bool = True
    tie_embeddings: bool = False
    num_experts: int = 0
    experts_per_token: int = 8
    base: float = 1000000.0
    rope_scaling: str = ""
    rope_factor: float = 1.0
    original_len: int = 32768
    window: int = 0  # of all layers but every global_every-th
    global_every: int = 6
    local_base: float = 10000.0
    offset_norm: bool = False
    norm_after: bool = False  # also after each sublayer
    scale_embedding: bool = False
    score_dim: int = 0  # scores are divided by its root; 0: head_dim


# --8<-- [end:configuration]
# --8<-- [start:norm]
class OffsetRMSNorm(RMSNorm):
    """x / rms(x) * (1 + weight); weights start as zeros."""

    def __init__(self, d_model: int, eps: float):
        super().__init__(d_model, eps)
        nn.init.zeros_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.weight.shape, 1 + self.weight, self.eps)


def make_norm(config: DecoderConfig, size: int) -> RMSNorm:
    norm = OffsetRMSNorm if config.offset_norm else RMSNorm
    return norm(size, config.norm_eps)


# --8<-- [end:norm]
# --8<-- [start:attention]
@dataclass
class Cache:
    """Keys and values of earlier tokens, by the number of the layer."""

    length: int = 0
    layers: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)


class CausalSelfAttention(nn.Module):
    """Grouped queries, over all earlier tokens or those in a window.

    Shapes: x (batch, n, d_model), positions (n,) -> (batch, n, d_model).
    """

    def __init__(self, config: DecoderConfig, number: int):
        super().__init__()
        d, head_dim = config.d_model, config.head_dim
        self.number, self.head_dim = number, head_dim
        self.scale = (config.score_dim or head_dim) ** -0.5
        is_local = config.window > 0 and (number + 1) % config.global_every > 0
        self.window = config.window if is_local else 0
        base = config.local_base if is_local else config.base
        scaling = "" if is_local else config.rope_scaling
        self.frequency, self.size = rope_frequencies(
            head_dim, base, scaling, config.rope_factor, config.original_len
        )
        self.query = nn.Linear(d, config.nhead * head_dim, bias=False)
        self.key = nn.Linear(d, config.num_kv_heads * head_dim, bias=False)
        self.value = nn.Linear(d, config.num_kv_heads * head_dim, bias=False)
        self.output = nn.Linear(config.nhead * head_dim, d, bias=False)
        self.query_norm = self.key_norm = nn.Identity()
        if config.qk_norm:
            self.query_norm = make_norm(config, head_dim)
            self.key_norm = make_norm(config, head_dim)

    def forward(self, x: Tensor, positions: Tensor, cache: Cache) -> Tensor:
        angle = positions.unsqueeze(1) * self.frequency.to(x.device)
        q = self.query_norm(self.split(self.query(x)))
        k = self.key_norm(self.split(self.key(x)))
        v = self.split(self.value(x))  # (batch, num_kv_heads, n, head_dim)
        q = rotate_halves(q, angle, self.size)
        k = rotate_halves(k, angle, self.size)
        if self.number in cache.layers:
            old_k, old_v = cache.layers[self.number]
            k, v = torch.cat([old_k, k], dim=2), torch.cat([old_v, v], dim=2)
        kept = k, v
        if self.window:  # copied: a view would hold all tokens in memory
            last = slice(-self.window, None)
            kept = k[:, :, last].clone(), v[:, :, last].clone()
        cache.layers[self.number] = kept
        earlier = torch.arange(1 - k.size(2), 1, device=x.device)
        distance = positions.unsqueeze(1) - positions[-1] - earlier  # (n, m)
        mask = distance >= 0
        if self.window:
            mask = mask & (distance < self.window)
        heads = F.scaled_dot_product_attention(
            q, k, v, mask, scale=self.scale, enable_gqa=True
        )  # (batch, nhead, n, head_dim)
        return self.output(heads.transpose(1, 2).flatten(2))

    def split(self, x: Tensor) -> Tensor:
        x = x.unflatten(-1, (-1, self.head_dim))  # (batch, n, heads, head_dim)
        return x.transpose(1, 2)  # (batch, heads, n, head_dim)


# --8<-- [end:attention]
# --8<-- [start:layer]
class Layer(nn.Module):
    """Attention, then the feed-forward network or the experts."""

    def __init__(self, config: DecoderConfig, number: int):
        super().__init__()
        d, width = config.d_model, config.dim_feedforward
        self.attention = CausalSelfAttention(config, number)
        self.feed_forward = (
            MixtureOfExperts(
                d, width, config.num_experts, config.experts_per_token
            )
            if config.num_experts
            else GatedFeedForward(d, width, config.activation)
        )
        self.attention_norm = make_norm(config, d)
        self.feed_forward_norm = make_norm(config, d)
        self.after_attention = self.after_feed_forward = nn.Identity()
        if config.norm_after:
            self.after_attention = make_norm(config, d)
            self.after_feed_forward = make_norm(config, d)

    def forward(self, x: Tensor, positions: Tensor, cache: Cache) -> Tensor:
        y = self.attention(self.attention_norm(x), positions, cache)
        x = x + self.after_attention(y)
        y = self.feed_forward(self.feed_forward_norm(x))
        return x + self.after_feed_forward(y)


# --8<-- [end:layer]
# --8<-- [start:decoder]
class Decoder2025(nn.Module):
    """Ids in, logits of the next token out; blocks of 2023 to mid-2025.

    Shapes: ids (batch, n) -> (batch, n, vocab_size). With a cache, ids are
    the tokens that follow those in the cache. Padding may only be on the
    right, and only without a cache.
    """

    def __init__(self, config: DecoderConfig):
        super().__init__()
        d = config.d_model
        self.config = config
        self.scale = math.sqrt(d) if config.scale_embedding else 1.0
        self.embedding = nn.Embedding(config.vocab_size, d)
        self.layers = nn.ModuleList(
            Layer(config, number) for number in range(config.num_layers)
        )
        self.norm = make_norm(config, d)
        self.output = nn.Linear(d, config.vocab_size, bias=False)
        self.apply(initialize)
        if config.tie_embeddings:  # small, as its rows also make the logits
            nn.init.normal_(self.embedding.weight, std=0.02 / self.scale)
            self.output.weight = self.embedding.weight

    def forward(self, ids: Tensor, cache: Cache | None = None) -> Tensor:
        cache = cache or Cache()
        end = cache.length + ids.size(1)
        positions = torch.arange(cache.length, end, device=ids.device)
        x = self.embedding(ids) * self.scale  # (batch, n, d_model)
        for layer in self.layers:
            x = layer(x, positions, cache)
        cache.length = end
        return self.output(self.norm(x))  # (batch, n, vocab_size)


# --8<-- [end:decoder]
