#!/usr/bin/env python3
"""Greedy decoding with the key-value cache and without: time, and how it grows.

An untrained model, float32, pre-norm, on one thread; its <eos> never wins, so
that each sentence gets exactly the wanted number of tokens. Both ways decode
the same sources in turns. Times are the processor's, medians over the rounds;
each ratio is the median of the rounds' own. The growth from 64 to 256 tokens is
given as a power of the length: 1 is linear, 2 quadratic.
Writes snippets/results/decode.json.
"""

import json
import math
import os
import platform
import statistics
import time
from pathlib import Path

import torch

import decode
import transformer
import translator
from transformer import Transformer, TransformerConfig

SNIPPETS = Path(__file__).resolve().parents[2] / "snippets"

BATCHES = (1, 32)
LENGTHS = (16, 32, 64, 128, 256)
ROUNDS = (9, 7, 5, 3, 3)
SOURCE = 16
VOCABULARY = 1000
BOS, EOS = 1, 2
WIDTHS = {"d_model": 256, "nhead": 4, "dim_feedforward": 1024}
LAYERS = 2
WAYS = {"cached": True, "uncached": False}


def endless_model() -> Transformer:
    """Its <eos> always has the score 0, and of 1000 others one is higher."""
    torch.manual_seed(0)
    config = TransformerConfig(
        VOCABULARY,
        VOCABULARY,
        num_encoder_layers=LAYERS,
        num_decoder_layers=LAYERS,
        norm_first=True,
        **WIDTHS,
    )
    model = Transformer(config)
    with torch.no_grad():
        model.output.weight[EOS] = 0.0
    return model


def measure() -> list[dict]:
    torch.set_num_threads(1)
    model = endless_model()
    rows = []
    for batch in BATCHES:
        src = torch.randint(3, VOCABULARY, (batch, SOURCE))
        decode.greedy_decode(model, src, 4, BOS, EOS)  # warms up
        for length, rounds in zip(LENGTHS, ROUNDS, strict=True):
            turns = []
            for _ in range(rounds):
                taken, ids = {}, {}
                for way, use_cache in WAYS.items():
                    started = time.process_time()
                    ids[way] = decode.greedy_decode(model, src, length, BOS, EOS, use_cache)
                    taken[way] = time.process_time() - started
                assert torch.equal(ids["cached"], ids["uncached"])
                assert ids["cached"].size(1) == length
                turns.append(taken)
            seconds = {way: statistics.median(t[way] for t in turns) for way in WAYS}
            ratio = statistics.median(t["uncached"] / t["cached"] for t in turns)
            row = {"batch": batch, "length": length, "seconds": seconds, "ratio": ratio}
            print(row, flush=True)
            rows.append(row)
    return rows


def growth(rows: list[dict]) -> list[dict]:
    """From 64 to 256 tokens the time grows as length to this power."""
    found = []
    for batch in BATCHES:
        seconds = {row["length"]: row["seconds"] for row in rows if row["batch"] == batch}
        powers = {way: math.log(seconds[256][way] / seconds[64][way], 4) for way in WAYS}
        found.append({"batch": batch, **powers})
    return found


def main() -> None:
    key = translator.code_key(Path(__file__), Path(decode.__file__), Path(transformer.__file__))
    environment = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cores": os.cpu_count(),
    }
    model = {**WIDTHS, "layers": LAYERS, "source": SOURCE, "vocabulary": VOCABULARY}
    rows = measure()
    record = {"key": key, "environment": environment, "model": model}
    record |= {"rows": rows, "growth": growth(rows)}
    print(record["growth"])
    target = SNIPPETS / "results" / "decode.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(f"{json.dumps(record, indent=1)}\n")


if __name__ == "__main__":
    main()
