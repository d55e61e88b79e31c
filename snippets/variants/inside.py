# --8<-- [start:look]
"""Look inside SmolLM2: attention weights, states, heads switched off.

python -m variants.inside "The capital of France is"
"""

import argparse
import os
import sys
from collections.abc import Iterable
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer import causal_mask
from variants.chat import decode_stream, generate
from variants.decoder_2025 import CausalSelfAttention, Layer
from variants.gguf_weights import read_gguf
from variants.rope_scaling import rotate_halves
from variants.smollm2 import (
    Decoder,
    chat_prompt,
    get_file,
    load_weights,
    make_decoder,
    make_tokenizer,
)


def attend(
    attention: CausalSelfAttention, x: Tensor, allowed: Tensor, off: list[int]
) -> tuple[Tensor, Tensor]:
    """The output without the heads in off, and the weights of all heads.

    Shapes: x (batch, n, d_model), allowed (n, n) bool -> that of x, and
    (batch, nhead, n, n).
    """
    angle = torch.arange(x.size(1))[:, None] * attention.frequency
    q = attention.query_norm(attention.split(attention.query(x)))
    k = attention.key_norm(attention.split(attention.key(x)))
    v = attention.split(attention.value(x))
    q = rotate_halves(q, angle, attention.size)
    k = rotate_halves(k, angle, attention.size)
    group = q.size(1) // k.size(1)
    k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    scores = q @ k.mT * attention.scale
    weights = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
    heads = weights @ v  # (batch, nhead, n, head_dim)
    heads[:, off] = 0
    return attention.output(heads.transpose(1, 2).flatten(2)), weights


@torch.no_grad()
def look(
    model: Decoder,
    ids: Tensor,
    off: list[tuple[int, int]] | None = None,
    allowed: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The states before the first and after each layer, and all weights.

    The heads in off, (layer, head), are switched off. Without allowed,
    attention is causal. Shapes: ids (batch, n), allowed (n, n) bool ->
    (num_layers + 1, batch, n, d_model), (num_layers, batch, nhead, n, n).
    Raises ValueError for a decoder with windows.
    """
    if model.config.window:
        raise ValueError("decoders with windows are not supported")
    if allowed is None:
        allowed = causal_mask(ids.size(1))[0, 0]
    x = model.embedding(ids) * model.scale
    states, weights = [x], []
    for number, layer in enumerate(cast(Iterable[Layer], model.layers)):
        heads = [head for place, head in off or [] if place == number]
        y = layer.attention_norm(x)
        y, found = attend(layer.attention, y, allowed, heads)
        x = x + layer.after_attention(y)
        y = layer.feed_forward(layer.feed_forward_norm(x))
        x = x + layer.after_feed_forward(y)
        states.append(x)
        weights.append(found)
    return torch.stack(states), torch.stack(weights)


# --8<-- [end:look]
# --8<-- [start:lens]
@torch.no_grad()
def lens(model: Decoder, states: Tensor) -> Tensor:
    """Logits as if no layer followed: (..., d_model) -> (..., vocab_size)."""
    return model.output(model.norm(states))


# --8<-- [end:lens]
# --8<-- [start:induction]
def repeated_ids(low: int, high: int, length: int, seed: int) -> Tensor:
    """Random ids low .. high - 1, then the same again: (1, 2 * length)."""
    generator = torch.Generator().manual_seed(seed)
    half = torch.randint(low, high, (1, length), generator=generator)
    return torch.cat([half, half], dim=1)


def induction_scores(weights: Tensor) -> Tensor:
    """The mean weight on the token after the earlier occurrence.

    Shapes: weights (..., n, n) of repeated ids -> (...).
    """
    length = weights.size(-1) // 2
    after = weights.diagonal(1 - length, dim1=-2, dim2=-1)
    return after[..., -length:].mean(dim=-1)


def loss_from(model: Decoder, ids: Tensor, first: int, state: Tensor) -> float:
    """The mean loss of the tokens ids[:, first:], with the last state."""
    logits = lens(model, state[:, first - 1 : -1])
    return F.cross_entropy(logits.mT, ids[:, first:]).item()


# --8<-- [end:induction]
# --8<-- [start:main]
def report(text: str, question: str) -> None:
    """Print the heads and the sink, the lens of text, answers to question."""
    settings, tensors = read_gguf(get_file())
    tokenizer = make_tokenizer(settings)
    ids = torch.tensor([tokenizer.encode(text).ids])
    if not 1 <= ids.size(1) <= 512:
        raise ValueError(f"the text must have 1 .. 512 tokens: {ids.size(1)}")
    model = make_decoder(settings)
    load_weights(model, tensors)

    repeated = repeated_ids(20, model.config.vocab_size, 25, seed=0)
    _, weights = look(model, repeated)
    scores = induction_scores(weights)[:, 0]  # (num_layers, nhead)
    best = scores.flatten().topk(5).indices.tolist()
    heads = [divmod(place, model.config.nhead) for place in best]
    for layer, head in heads:
        print(f"layer {layer}, head {head}: score {scores[layer, head]:.2f}")
    for off in [], heads[:1], heads:
        states, _ = look(model, repeated, off)
        loss = loss_from(model, repeated, 26, states[-1])
        print(f"heads off: {len(off)}, loss of the repetition: {loss:.1f}")

    sink = weights[:, 0, :, 1:, 0].mean(dim=(1, 2))  # of each layer
    states, _ = look(model, ids)
    tokens = lens(model, states[1:, 0, -1]).argmax(dim=-1).tolist()
    for layer in range(1, len(tokens), 4):
        token = tokenizer.id_to_token(tokens[layer])
        print(f"layer {layer}: {sink[layer]:.0%} on the first token; {token}")

    end = settings["tokenizer.ggml.eos_token_id"]
    for prompt in question, chat_prompt(settings, question):
        new = generate(model, tokenizer.encode(prompt).ids, 12, end)
        print(repr("".join(decode_stream(tokenizer, new))))


def main() -> None:
    parser = argparse.ArgumentParser("python -m variants.inside")
    parser.add_argument("text", nargs="?", default="The capital of France is")
    parser.add_argument("question", nargs="?", default="Why do we sleep?")
    options = parser.parse_args()
    try:
        texts = options.text, options.question
        report(*(os.fsencode(each).decode() for each in texts))
    except (ImportError, OSError, ValueError) as error:
        sys.exit(f"inside.py: {error}")


if __name__ == "__main__":
    main()
# --8<-- [end:main]
