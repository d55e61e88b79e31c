# --8<-- [start:sink]
"""A decoder with sinks, gates, fewer rotations and norms after sublayers."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer import initialize
from variants.decoder_2025 import (
    Cache,
    CausalSelfAttention,
    Decoder2025,
    DecoderConfig,
    make_norm,
)
from variants.rope_scaling import rope_frequencies, rotate_halves


def softmax_with_sink(scores: Tensor, sink: Tensor) -> Tensor:
    """exp(score) / (exp(sink) + the sum of exp(scores)), over the last axis.

    Shapes: scores (batch, nhead, n, m), sink (nhead,) -> that of scores.
    Source: OpenAI 2025, on the architecture.
    """
    column = sink[:, None, None].expand(*scores.shape[:-1], 1)
    return torch.cat([scores, column], dim=-1).softmax(dim=-1)[..., :-1]


# --8<-- [end:sink]
# --8<-- [start:rotate]
def rotate_first(x: Tensor, angle: Tensor, size: float = 1.0) -> Tensor:
    """Rotates the first features, two for each angle; keeps the others.

    Shapes: x (..., n, head_dim), angle (n, pairs) -> that of x.
    """
    rotated, kept = x.tensor_split([2 * angle.size(-1)], dim=-1)
    return torch.cat([rotate_halves(rotated, angle, size), kept], dim=-1)


# --8<-- [end:rotate]
# --8<-- [start:configuration]
@dataclass(frozen=True)
class NewerConfig(DecoderConfig):
    """Further choices; with the defaults it is DecoderConfig."""

    sinks: bool = False
    output_gate: bool = False
    rotated: float = 1.0  # the fraction of a head's features
    unrotated_every: int = 0  # every n-th layer has no rotary positions
    same_rotations: bool = False  # also in layers with a window
    whole_pairs: bool = True  # gpt-oss does not round YaRN's limits
    norm_before: bool = True  # OLMo 2: False, and norm_after True
    joint_qk_norm: bool = False  # over all heads together


# --8<-- [end:configuration]
# --8<-- [start:attention]
class NewerAttention(CausalSelfAttention):
    """CausalSelfAttention with the choices of NewerConfig.

    Shapes: x (batch, n, d_model), positions (n,) -> (batch, n, d_model).
    """

    def __init__(self, config: NewerConfig, number: int):
        super().__init__(config, number)
        d, width = config.d_model, config.nhead * self.head_dim
        every = config.unrotated_every
        unrotated = every > 0 and (number + 1) % every == 0
        rotated = 0 if unrotated else int(config.rotated * self.head_dim)
        is_local = self.window > 0 and not config.same_rotations
        self.frequency, self.size = rope_frequencies(
            rotated,
            config.local_base if is_local else config.base,
            "" if is_local else config.rope_scaling,
            config.rope_factor,
            config.original_len,
            config.whole_pairs,
        )
        self.joint_norm = config.joint_qk_norm
        if self.joint_norm:
            shared = config.num_kv_heads * self.head_dim
            self.query_norm = make_norm(config, width)
            self.key_norm = make_norm(config, shared)
        no_sink = torch.full((config.nhead,), -torch.inf)
        self.sink = (
            nn.Parameter(torch.zeros(config.nhead))
            if config.sinks
            else nn.Buffer(no_sink, persistent=False)
        )
        self.gate = None
        if config.output_gate:
            self.gate = nn.Linear(d, width, bias=False)

    def forward(self, x: Tensor, positions: Tensor, cache: Cache) -> Tensor:
        angle = positions.unsqueeze(1) * self.frequency.to(x.device)
        q = self.normalize(self.query_norm, self.query(x))
        k = self.normalize(self.key_norm, self.key(x))
        v = self.split(self.value(x))  # (batch, num_kv_heads, n, head_dim)
        q = rotate_first(q, angle, self.size)
        k = rotate_first(k, angle, self.size)
        if self.number in cache.layers:
            old_k, old_v = cache.layers[self.number]
            k, v = torch.cat([old_k, k], dim=2), torch.cat([old_v, v], dim=2)
        last = slice(-self.window, None)  # all of them without a window
        cache.layers[self.number] = k[:, :, last], v[:, :, last]
        earlier = torch.arange(1 - k.size(2), 1, device=x.device)
        distance = positions.unsqueeze(1) - positions[-1] - earlier  # (n, m)
        hidden = (distance < 0) | (distance >= (self.window or math.inf))
        group = q.size(1) // k.size(1)  # the query heads of a head of keys
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        scores = (self.scale * q @ k.mT).masked_fill(hidden, -torch.inf)
        heads = softmax_with_sink(scores, self.sink) @ v
        heads = heads.transpose(1, 2).flatten(2)  # (batch, n, width)
        if self.gate is not None:
            heads = self.gate(x).sigmoid() * heads
        return self.output(heads)

    def normalize(self, norm: nn.Module, x: Tensor) -> Tensor:
        if self.joint_norm:
            return self.split(norm(x))
        return norm(self.split(x))


# --8<-- [end:attention]
# --8<-- [start:decoder]
class NewerDecoder(Decoder2025):
    """Decoder2025 with the choices of NewerConfig.

    Shapes: as Decoder2025, ids (batch, n) -> (batch, n, vocab_size).
    """

    def __init__(self, config: NewerConfig):
        super().__init__(config)
        for number, layer in enumerate(self.layers):
            layer.attention = NewerAttention(config, number).apply(initialize)
            if not config.norm_before:
                layer.attention_norm = nn.Identity()
                layer.feed_forward_norm = nn.Identity()


# --8<-- [end:decoder]
