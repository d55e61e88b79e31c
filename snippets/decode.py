# --8<-- [start:imports]
"""Getting sentences out of a trained Transformer, one token after another.

Three ways to choose the next token (greedy, beam search, sampling), and a
key-value cache that computes each position only once. All work on batches;
each sentence stops at its own <eos>. Source ids src are (batch, m), padded.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer import (
    DecoderLayer,
    MultiHeadAttention,
    Transformer,
    fused_attention,
    padding_mask,
)


# --8<-- [end:imports]
# --8<-- [start:eval_mode]
@contextmanager
def eval_mode(model: Transformer) -> Iterator[None]:
    """No dropout and no gradient inside; afterwards all is as it was."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in modes.items():
            module.training = training


# --8<-- [end:eval_mode]
# --8<-- [start:recompute]
class Uncached:
    """A batch of translations in progress; of the target only ids are kept."""

    def __init__(self, model: Transformer, src: Tensor):
        self.model = model
        self.memory = model.encode(src)  # (batch, m, d_model)
        self.memory_mask = padding_mask(src, model.config.pad_id)
        self.ids = src[:, :0]  # (batch, 0)

    def step(self, ids: Tensor) -> Tensor:
        """One more id for each, (batch,) -> logits of the next (batch, V)."""
        self.ids = torch.cat([self.ids, ids[:, None]], dim=1)  # (batch, n)
        x = self.model.decode(self.ids, self.memory, self.memory_mask)
        return self.model.logits(x[:, -1])

    def select(self, rows: Tensor) -> None:
        """Go on with these rows of the batch, in this order."""
        self.memory = self.memory[rows]
        self.memory_mask = self.memory_mask[rows]
        self.ids = self.ids[rows]


# --8<-- [end:recompute]
# --8<-- [start:next_logits]
def next_logits(
    progress: "Uncached | KeyValueCache", ids: Tensor, finished: Tensor
) -> Tensor:
    """Logits of the next token: <pad> after the end, and nowhere else.

    Shapes: ids and finished (batch,), finished boolean -> (batch, V) float32.
    """
    logits = progress.step(ids).float()
    vocabulary = torch.arange(logits.size(-1), device=logits.device)
    is_pad = vocabulary == progress.model.config.pad_id  # (V,)
    return logits.masked_fill(finished[:, None] != is_pad, -math.inf)


# --8<-- [end:next_logits]
# --8<-- [start:translate]
def translate(
    model: Transformer,
    src: Tensor,
    max_len: int,
    bos_id: int,
    eos_id: int,
    use_cache: bool,
    choose: Callable[[Tensor], Tensor],
) -> Tensor:
    """Token after token until all have ended or have max_len tokens.

    choose: logits (batch, V) -> ids (batch,). The rest as greedy_decode.
    """
    check_arguments(model, max_len, bos_id, eos_id)
    with eval_mode(model):
        progress = (KeyValueCache if use_cache else Uncached)(model, src)
        ids = torch.full((src.size(0),), bos_id, device=src.device)
        finished = torch.zeros_like(ids, dtype=torch.bool)
        written: list[Tensor] = []
        while len(written) < max_len and not finished.all():
            ids = choose(next_logits(progress, ids, finished))  # (batch,)
            finished = finished | (ids == eos_id)
            written.append(ids)
    return torch.stack(written, dim=1)


def check_arguments(
    model: Transformer, max_len: int, bos_id: int, eos_id: int
) -> None:
    """Raise ValueError for what no decoding could use."""
    config = model.config
    if not 1 <= max_len <= config.max_len:
        raise ValueError(
            f"max_len must lie in 1 .. {config.max_len}, the positions that "
            f"the model has, got {max_len}"
        )
    last, pad = config.tgt_vocab_size - 1, config.pad_id
    for name, given in ("bos_id", bos_id), ("eos_id", eos_id):
        if not 0 <= given <= last or given == pad:
            raise ValueError(
                f"{name} must lie in 0 .. {last} and not be the padding's "
                f"{pad}, got {given}"
            )


# --8<-- [end:translate]
# --8<-- [start:greedy_decode]
def greedy_decode(
    model: Transformer,
    src: Tensor,
    max_len: int,
    bos_id: int,
    eos_id: int,
    use_cache: bool = True,
) -> Tensor:
    """The likeliest token at each step.

    Shapes: src (batch, m) -> (batch, n) int64, n <= max_len: the ids without
    <bos>, with <eos> if it came within max_len, then <pad>. The model computes
    in evaluation mode. Without use_cache each step starts over.
    Raises ValueError for a max_len or an id that the model does not have.
    """

    def likeliest(logits: Tensor) -> Tensor:
        return logits.argmax(dim=-1)

    return translate(model, src, max_len, bos_id, eos_id, use_cache, likeliest)


# --8<-- [end:greedy_decode]
# --8<-- [start:sentence_score]
def normalization(length: Tensor, length_penalty: float) -> Tensor:
    """((5 + n) / 6)^length_penalty; the logarithm of a sentence of n tokens,
    <eos> among them, is divided by it. Source: Wu et al. 2016, equation 14."""
    return ((5 + length) / 6) ** length_penalty


def sentence_score(
    model: Transformer,
    src: Tensor,
    tgt: Tensor,
    bos_id: int,
    length_penalty: float = 0.0,
) -> Tensor:
    """The log-probability of each translation, divided by normalization().

    Shapes: src (batch, m), tgt (batch, n) without <bos> -> (batch,).
    <pad> counts neither as a token of the sentence nor as an alternative.
    """
    pad = model.config.pad_id
    with eval_mode(model):
        given = F.pad(tgt[:, :-1], (1, 0), value=bos_id)
        logits = model(src, given).float()  # (batch, n, V)
        logits[..., pad] = -math.inf
        real = tgt != pad
        tokens = logits.log_softmax(dim=-1).gather(-1, tgt[..., None])[..., 0]
        total = tokens.masked_fill(~real, 0.0).sum(dim=-1)  # (batch,)
    return total / normalization(real.sum(dim=-1), length_penalty)


# --8<-- [end:sentence_score]
# --8<-- [start:best_continuations]
def best_continuations(
    totals: Tensor, logits: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Of all beams, each continued by every token, as many as there were.

    Shapes: totals (batch, beam), the log-probability of each beam so far, and
    logits (batch, beam, V) -> their totals, the beam that each continues and
    its new token, all (batch, beam). The likeliest continuation of the first
    beam stays the first; the others follow, the likeliest first.
    """
    vocab_size = logits.size(-1)
    scores = totals[..., None] + logits.log_softmax(dim=-1)
    scores = scores.flatten(1)  # (batch, beam * V)
    greedy = logits[:, 0].argmax(dim=-1, keepdim=True)  # (batch, 1)
    ranking = scores.scatter(1, greedy, math.inf)
    best = ranking.topk(totals.size(1)).indices  # (batch, beam)
    return scores.gather(1, best), best // vocab_size, best % vocab_size


# --8<-- [end:best_continuations]
# --8<-- [start:beam_search]
def beam_search(
    model: Transformer,
    src: Tensor,
    max_len: int,
    bos_id: int,
    eos_id: int,
    beam_size: int = 4,
    length_penalty: float = 0.6,
    use_cache: bool = True,
) -> Tensor:
    """The best of beam_size translations that are written side by side.

    The first of them is always the greedy one, so the sentence_score of the
    result is never below that one's. A finished translation keeps its score
    and competes with the others; only the greedy one is never dropped. Shapes
    and errors: as greedy_decode; also ValueError for a beam_size below 1 and a
    negative length_penalty.
    Source: Wu et al. 2016, section 7, without its coverage penalty.
    """
    check_arguments(model, max_len, bos_id, eos_id)
    if beam_size < 1:
        raise ValueError(f"beam_size must be at least 1, got {beam_size}")
    if not 0 <= length_penalty < math.inf:
        raise ValueError(f"length_penalty must be >= 0, got {length_penalty}")
    with eval_mode(model):
        progress = (KeyValueCache if use_cache else Uncached)(model, src)
        shape = src.size(0), beam_size
        start = torch.arange(src.size(0), device=src.device)[:, None]
        rows = start.expand(shape).flatten()  # each sentence beam_size times
        start = start * beam_size  # (batch, 1)
        ids = torch.full((rows.numel(),), bos_id, device=src.device)
        written = ids[:, None][:, :0]  # (batch * beam, 0)
        finished = torch.zeros_like(ids, dtype=torch.bool)
        totals = torch.full(shape, -math.inf, device=src.device)
        totals[:, 0] = 0.0  # before the first token all beams are the same
        while True:
            progress.select(rows)
            logits = next_logits(progress, ids, finished)  # (batch * beam, V)
            totals, beams, tokens = best_continuations(
                totals, logits.view(*shape, -1)
            )
            rows, ids = (start + beams).flatten(), tokens.flatten()
            written = torch.cat([written[rows], ids[:, None]], dim=1)
            finished = finished[rows] | (ids == eos_id)
            lengths = (written != model.config.pad_id).sum(dim=-1)
            lengths = lengths.where(finished, max_len).view(shape)
            # A beam's score, or while unfinished the best that it can become.
            reach = totals / normalization(lengths, length_penalty)
            winner = start + reach.argmax(dim=-1, keepdim=True)  # (batch, 1)
            if written.size(1) == max_len or finished[winner].all():
                break
        longest = lengths.flatten()[winner].max()
    return written[winner[:, 0], :longest]


# --8<-- [end:beam_search]
# --8<-- [start:cached_attention]
class CachedAttention:
    """An attention that keeps the keys and values of what it has been given.

    They are split into heads when they are used, so shared heads are kept
    once. Shapes: key and value (batch, positions so far, all heads together).
    """

    def __init__(self, attention: MultiHeadAttention, x: Tensor):
        self.attention = attention
        self.key, self.value = attention.key(x), attention.value(x)

    def append(self, x: Tensor) -> None:
        """Add keys and values of further positions x, (batch, n, d_model)."""
        new = CachedAttention(self.attention, x)
        self.key = torch.cat([self.key, new.key], dim=1)
        self.value = torch.cat([self.value, new.value], dim=1)

    def __call__(self, x: Tensor, mask: Tensor) -> Tensor:
        """What MultiHeadAttention computes, for the queries of x alone."""
        # new queries, and all keys and values stored so far
        parts = self.attention.query(x), self.key, self.value
        query, key, value = map(self.attention.split, parts)
        heads, _ = fused_attention(query, key, value, mask)
        # the heads joined again, (batch, n, d_model)
        return self.attention.output(heads.transpose(1, 2).flatten(2))

    def select(self, rows: Tensor) -> None:
        self.key, self.value = self.key[rows], self.value[rows]


# --8<-- [end:cached_attention]
# --8<-- [start:cached_layer]
class CachedLayer:
    """A decoder layer that is given one new position at a time."""

    def __init__(self, layer: DecoderLayer, memory: Tensor):
        self.layer = layer
        nothing = memory[:, :0]  # (batch, 0, d_model)
        self.target = CachedAttention(layer.self_attention, nothing)
        self.source = CachedAttention(layer.cross_attention, memory)

    def __call__(self, x: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
        layer = self.layer
        if layer.norm_first:
            x = x + self.attend(layer.norm1(x), mask)  # (batch, 1, d_model)
            x = x + self.source(layer.norm2(x), memory_mask)
            return x + layer.feed_forward(layer.norm3(x))
        x = layer.norm1(x + self.attend(x, mask))
        x = layer.norm2(x + self.source(x, memory_mask))
        return layer.norm3(x + layer.feed_forward(x))

    def attend(self, x: Tensor, mask: Tensor) -> Tensor:
        self.target.append(x)
        return self.target(x, mask)


# --8<-- [end:cached_layer]
# --8<-- [start:key_value_cache]
class KeyValueCache:
    """As Uncached, but each position is computed only once.

    To be used inside eval_mode(model): its layers have no dropout.
    Kept for every layer: keys and values of the target so far, which grow by
    one position a step, and those of memory, which stay as they are.
    Works with the attention and the positions of transformer.py alone.
    """

    def __init__(self, model: Transformer, src: Tensor):
        self.model = model
        memory = model.encode(src)  # (batch, m, d_model)
        self.memory_mask = padding_mask(src, model.config.pad_id)
        self.mask = self.memory_mask[..., :0]  # (batch, 1, 1, 0)
        layers = cast(Iterable[DecoderLayer], model.decoder.layers)
        self.layers = [CachedLayer(layer, memory) for layer in layers]

    def step(self, ids: Tensor) -> Tensor:
        """One more id for each, (batch,) -> logits of the next (batch, V)."""
        ids = ids[:, None]  # (batch, 1)
        position, table = self.mask.size(-1), self.model.position.table
        if position == table.size(0):
            raise ValueError(f"the table has only {position} positions")
        new = padding_mask(ids, self.model.config.pad_id)
        self.mask = torch.cat([self.mask, new], dim=-1)
        x = self.model.tgt_embedding(ids) + table[position]
        for layer in self.layers:
            x = layer(x, self.mask, self.memory_mask)  # (batch, 1, d_model)
        return self.model.logits(self.model.decoder.norm(x))[:, 0]

    def select(self, rows: Tensor) -> None:
        """Go on with these rows of the batch, in this order."""
        self.memory_mask, self.mask = self.memory_mask[rows], self.mask[rows]
        for layer in self.layers:
            layer.target.select(rows)
            layer.source.select(rows)


# --8<-- [end:key_value_cache]
# --8<-- [start:probabilities]
def probabilities(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Tensor:
    """softmax(logits / temperature), its tail cut off; (..., V) -> the same.

    top_k keeps the k likeliest tokens; of these, top_p keeps the fewest whose
    probabilities, the likeliest first, add up to p or more. What is kept adds
    up to 1 again. Raises ValueError for a temperature that is not positive,
    a top_k below 1 and a top_p outside 0 < p <= 1.
    Source: Fan et al. 2018, section 5.4; Holtzman et al. 2020, section 3.1.
    """
    if not 0 < temperature < math.inf:
        raise ValueError(
            f"temperature must be positive, got {temperature}; "
            "for the limit 0 use greedy_decode"
        )
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k must be at least 1, got {top_k}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, got {top_p}")
    logits, order = logits.sort(dim=-1, descending=True)
    logits = (logits - logits[..., :1]) / temperature
    if top_k is not None:
        logits[..., top_k:] = -math.inf
    kept = logits.softmax(dim=-1)  # the likeliest first
    if top_p is not None and top_p < 1:
        before = kept.cumsum(dim=-1) - kept  # what the likelier ones add up to
        kept = kept.masked_fill(before >= top_p, 0.0)
        kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(kept).scatter(-1, order, kept)


# --8<-- [end:probabilities]
# --8<-- [start:sample]
def sample(
    model: Transformer,
    src: Tensor,
    max_len: int,
    bos_id: int,
    eos_id: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    use_cache: bool = True,
) -> Tensor:
    """A token drawn at random at each step, as probabilities() has them.

    Shapes and errors: as greedy_decode and probabilities. The same generator
    state gives the same sentences, for the same batch.
    """

    def draw(logits: Tensor) -> Tensor:
        probs = probabilities(logits, temperature, top_k, top_p)
        return probs.multinomial(1, generator=generator)[:, 0]

    return translate(model, src, max_len, bos_id, eos_id, use_cache, draw)


# --8<-- [end:sample]
