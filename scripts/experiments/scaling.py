#!/usr/bin/env python3
"""Attention with and without the division by the root of d_k: gradients and training.

Gradients: the norm of the gradient of each W_Q without the division over the norm
with it, in new models of several depths, from the cross-entropy of random tokens.
Training: one attention, or an encoder, learns to look things up. A sentence has eight
tokens, each the sum of a key and a value; a ninth token repeats one of the keys, and
the answer is its value. Every batch is new. A third variant of the single attention
doesn't divide either, but starts with a W_Q that is smaller by the root of d_k.
Writes snippets/results/scaling.json.
"""

import itertools
import json
import os
import platform
import statistics
import time
from pathlib import Path
from unittest import mock

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import transformer
import translator

SNIPPETS = Path(__file__).resolve().parents[2] / "snippets"

RESULTS = SNIPPETS / "results" / "scaling.json"
VARIANTS = ("divided", "not divided", "smaller W_Q")
SEEDS = tuple(range(5))

LAYERS = (1, 2, 6)
TOKENS, HEAD_DIM, VOCAB_SIZE = 16, 64, 100  # of the gradients

D_MODEL, HEADS = 256, (32, 4, 1)  # of the single attention
RATES = (3e-4, 1e-3, 3e-3, 1e-2)
STEPS, ENCODER_STEPS, ENCODER_RATE, ENCODER_SEEDS = 300, 600, 1e-3, (0, 1, 2)
BATCH_SIZE, WINDOW = 32, 20
KEYS, VALUES, PAIRS = 32, 32, 8


def undivided_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    dropout: float = 0.0,
) -> tuple[Tensor, None]:
    """softmax(Q K^T) V."""
    return F.scaled_dot_product_attention(query, key, value, mask, dropout, scale=1.0), None


def attention_of(variant: str):
    """A context in which the model's attention is that of the variant."""
    function = transformer.fused_attention if variant == "divided" else undivided_attention
    return mock.patch.object(transformer, "fused_attention", function)


# Gradients


def query_gradients(variant: str, layers: int, norm_first: bool, seed: int) -> list[float]:
    """The norms of the gradients of every W_Q in a new model."""
    torch.manual_seed(seed)
    config = transformer.TransformerConfig(
        src_vocab_size=VOCAB_SIZE,
        tgt_vocab_size=VOCAB_SIZE,
        d_model=2 * HEAD_DIM,
        nhead=2,
        num_encoder_layers=layers,
        num_decoder_layers=layers,
        dim_feedforward=4 * HEAD_DIM,
        dropout=0.0,
        norm_first=norm_first,
    )
    model = transformer.Transformer(config)
    src, tgt = torch.randint(1, VOCAB_SIZE, (2, 2, TOKENS + 1))
    with attention_of(variant):
        logits = model(src[:, 1:], tgt[:, :-1])
    F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten()).backward()
    return [
        module.query.weight.grad.norm().item()  # type: ignore[union-attr]
        for module in model.modules()
        if isinstance(module, transformer.MultiHeadAttention)
    ]


def gradient_ratios(layers: int, norm_first: bool, seed: int) -> list[float]:
    """For every W_Q, the gradient without the division over that with it."""
    divided, undivided = (
        query_gradients(variant, layers, norm_first, seed) for variant in VARIANTS[:2]
    )
    return [b / a for a, b in zip(divided, undivided, strict=True)]


# Training


class Retrieval(nn.Module):
    """Keys and values (batch, PAIRS), a wanted key (batch, 1) -> logits (batch, VALUES).

    Without layers, a single attention; otherwise an encoder with one head.
    """

    def __init__(self, d_model: int, nhead: int, layers: int):
        super().__init__()
        self.key = nn.Embedding(KEYS, d_model)
        self.value = nn.Embedding(VALUES, d_model)
        if layers:
            config = transformer.TransformerConfig(
                src_vocab_size=1,
                tgt_vocab_size=1,
                d_model=d_model,
                nhead=nhead,
                num_encoder_layers=layers,
                dim_feedforward=2 * d_model,
                dropout=0.0,
                norm_first=True,
            )
            self.encoder = transformer.Encoder(config)
        else:
            self.attention = transformer.MultiHeadAttention(d_model, nhead)
        self.layers = layers
        self.output = nn.Linear(d_model, VALUES)
        self.apply(transformer.initialize)

    def forward(self, keys: Tensor, values: Tensor, wanted: Tensor) -> Tensor:
        x = (self.key(keys) + self.value(values)) / 2**0.5  # variance 1
        query = self.key(wanted)
        if self.layers:
            x = self.encoder(torch.cat([x, query], dim=1))
        else:
            x, _ = self.attention(query, x, x)
        return self.output(x[:, -1])


def new_batch(
    size: int, generator: torch.Generator
) -> tuple[tuple[Tensor, Tensor, Tensor], Tensor]:
    """The inputs of the model, and the answers (size,)."""
    keys = torch.rand(size, KEYS, generator=generator).argsort(dim=-1)[:, :PAIRS]
    values = torch.randint(VALUES, (size, PAIRS), generator=generator)
    index = torch.randint(PAIRS, (size, 1), generator=generator)
    return (keys, values, keys.gather(1, index)), values.gather(1, index)[:, 0]


def train(
    variant: str,
    rate: float,
    seed: int,
    *,
    d_model: int = D_MODEL,
    nhead: int = 1,
    layers: int = 0,
    steps: int = STEPS,
) -> dict:
    """One training run: the first step at which nine of ten answers of the last
    batches are right, and the fraction of new answers that are right at the end."""
    started = time.process_time()
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = Retrieval(d_model, nhead, layers)
    d_k = d_model // nhead
    if variant == "smaller W_Q":
        with torch.no_grad():
            model.attention.query.weight /= d_k**0.5
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    right: list[float] = []
    reached = None
    with attention_of(variant):
        for step in range(1, steps + 1):
            inputs, answers = new_batch(BATCH_SIZE, generator)
            logits = model(*inputs)
            optimizer.zero_grad()
            F.cross_entropy(logits, answers).backward()
            optimizer.step()
            right.append((logits.argmax(dim=-1) == answers).float().mean().item())
            if reached is None and step >= WINDOW and statistics.mean(right[-WINDOW:]) >= 0.9:
                reached = step
        with torch.no_grad():
            inputs, answers = new_batch(1000, generator)
            end = (model(*inputs).argmax(dim=-1) == answers).float().mean().item()
    return {
        "variant": variant,
        "layers": layers,
        "d_k": d_k,
        "rate": rate,
        "seed": seed,
        "nine of ten after": reached,
        "right": round(end, 3),
        "seconds": round(time.process_time() - started, 1),
    }


def train_encoder(variant: str, layers: int, seed: int) -> dict:
    sizes = {"d_model": HEAD_DIM, "layers": layers, "steps": ENCODER_STEPS}
    return train(variant, ENCODER_RATE, seed, **sizes)


def measure() -> dict:
    torch.set_num_threads(1)
    gradients = [
        {
            "layers": layers,
            "norm_first": norm_first,
            "seed": seed,
            "ratios": [round(ratio, 3) for ratio in gradient_ratios(layers, norm_first, seed)],
        }
        for layers, norm_first, seed in itertools.product(LAYERS, (True, False), SEEDS)
    ]
    runs = []
    for nhead, rate, variant, seed in itertools.product(HEADS, RATES, VARIANTS, SEEDS):
        runs.append(train(variant, rate, seed, nhead=nhead))
        print(runs[-1], flush=True)
    for layers, variant, seed in itertools.product(LAYERS, VARIANTS[:2], ENCODER_SEEDS):
        runs.append(train_encoder(variant, layers, seed))
        print(runs[-1], flush=True)
    return {"steps": STEPS, "encoder steps": ENCODER_STEPS, "gradients": gradients, "runs": runs}


def key() -> str:
    return translator.code_key(Path(__file__), Path(transformer.__file__))


def main() -> None:
    environment = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cores": os.cpu_count(),
    }
    text = json.dumps({"key": key(), "environment": environment, **measure()}, indent=1)
    RESULTS.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
