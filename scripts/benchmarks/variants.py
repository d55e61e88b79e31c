#!/usr/bin/env python3
"""The variants that came after 2017, each trained in place of the part that it replaces.

All learn the numerals task as python train.py numerals sets it: the same numbers, sizes,
steps, rate and batches, with three seeds. What a variant shares with ours starts from the
same weights. Measured on the held-out numbers of at most ten digits, and on numbers of
eleven and twelve, which are longer than any in training.
Each run is written to snippets/results/variants.json as it ends, with a key over what made
it; a second call makes only those that are missing or whose key has changed.
"""

import hashlib
import inspect
import json
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import torch
from torch import nn

SNIPPETS = Path(__file__).resolve().parents[2] / "snippets"
elsewhere = [path for path in sys.path if Path(path) != Path(__file__).parent]
sys.path[:] = [str(SNIPPETS), str(SNIPPETS.parent / "scripts"), *elsewhere]  # not this variants
import book  # noqa: E402
import corpus  # noqa: E402
import decode  # noqa: E402
import train  # noqa: E402
import translator  # noqa: E402
from corpus import Pair  # noqa: E402
from transformer import initialise  # noqa: E402
from translator import PAD, Translator  # noqa: E402
from variants.alibi import ALiBiAttention  # noqa: E402
from variants.learned import LearnedPositions  # noqa: E402
from variants.rotary import RotaryAttention  # noqa: E402
from variants.window import WindowAttention  # noqa: E402

RESULTS = SNIPPETS / "results" / "variants.json"
MADE_FROM = ("transformer.py", "numerals.py")  # and the variant's own files
SECTIONS = {  # of files that have more in them
    "corpus.py": ("pairs", "vocabulary", "numerals"),
    "train.py": ("label_smoothing", "schedules", "batches", "gradients", "run"),
    "translator.py": ("translator",),
}
SEEDS = (0, 1, 2)
TASK = train.TASKS["numerals"]


# What is changed


def layers(model: Any) -> list[Any]:
    return [*model.encoder.layers, *model.decoder.layers]


def taking_over(new: nn.Module, old: nn.Module) -> nn.Module:
    """The new part, with the weights of the old where it has the same; else initialised."""
    new.apply(initialise)
    weights = {name: weight.shape for name, weight in new.state_dict().items()}
    same = {k: v for k, v in old.state_dict().items() if weights.get(k) == v.shape}
    new.load_state_dict(same, strict=False)
    return new


def nothing_added(model: Any) -> None:
    model.position = nn.Identity()


def with_attention(kind: type, model: Any, **more: Any) -> None:
    """Another self-attention in each layer; that to the memory stays."""
    for layer in layers(model):
        old = layer.self_attention
        layer.self_attention = taking_over(kind(model.config.d_model, old.nhead, **more), old)


def learned(model: Any) -> None:
    config = model.config
    model.position = LearnedPositions(config.d_model, config.max_len, config.dropout)


def rotary(model: Any) -> None:
    nothing_added(model)
    with_attention(RotaryAttention, model)


def alibi(model: Any) -> None:
    nothing_added(model)
    with_attention(ALiBiAttention, model)


def window(model: Any) -> None:
    with_attention(WindowAttention, model)


class Variant(NamedTuple):
    """The files that it is made from, and what it does to our model."""

    files: tuple[str, ...] = ()
    change: Callable[[Any], None] | None = None


VARIANTS = {
    "sinusoids": Variant(),
    "learned positions": Variant(("learned",), learned),
    "rotary": Variant(("rotary",), rotary),
    "ALiBi": Variant(("alibi",), alibi),
    "window": Variant(("window",), window),
}


# What is measured


@cache
def pairs_of(what: str | int) -> list[Pair]:
    """A part of the task, or numbers of so many digits."""
    if isinstance(what, str):
        return TASK.pairs(what)
    rng = random.Random(what)
    return [corpus.number_pair(corpus.random_number(rng, what)) for _ in range(1000)]


def right(found: Translator, pairs: list[Pair]) -> tuple[list[bool], float]:
    """Whether each is translated without a fault; and the share of the characters that are
    right where those before are given, the end among them.

    Greedy decoding writes a translation exactly if, given each beginning of it, the
    likeliest token is the next one. So one pass tells, for all variants alike.
    """
    whole: list[bool] = []
    characters = total = 0
    with decode.evaluating(found.model):
        for i in range(0, len(pairs), 250):
            batch = [train.example_of(found, pair) for pair in pairs[i : i + 250]]
            src, tgt = (translator.padded(ids) for ids in zip(*batch, strict=True))
            logits = found.model(src, tgt[:, :-1])
            logits[..., PAD] = -torch.inf
            real = tgt[:, 1:] != PAD
            same = logits.argmax(dim=-1) == tgt[:, 1:]
            whole += (same | ~real).all(dim=-1).tolist()
            characters += int((same & real).sum())
            total += int(real.sum())
    return whole, characters / total


def one(name: str, seed: int) -> dict[str, Any]:
    """A variant, trained with a seed and measured."""
    pairs = pairs_of("train")
    made = translator.new_translator(pairs, seed, **TASK.sizes)
    change = VARIANTS[name].change
    if change:
        change(made.model)
    run = train.Run(made, pairs, replace(TASK.settings, seed=seed), train.ALONE)
    made.model.train()
    started = time.process_time()
    losses = [loss for loss, _ in run.steps(Event())]
    found = {
        "loss": round(statistics.fmean(losses[-75:]), 4),
        "seconds": round(time.process_time() - started, 1),
        "parameters": sum(weight.numel() for weight in made.model.parameters()),
    }
    longest = max(len(pair.source) for pair in pairs)
    for what in ("test", 11, 12):
        new = pairs_of(what)
        whole, characters = right(made, new)
        short = [it for it, pair in zip(whole, new, strict=True) if len(pair.source) <= longest]
        found |= {
            f"{what}": round(statistics.fmean(whole), 4),
            f"{what}, no longer than in training": round(statistics.fmean(short), 4),
            f"{what}, characters": round(characters, 4),
        }
    return found


# The file


def key(name: str) -> str:
    """Of all that decides the figures of a variant."""
    variant = VARIANTS[name]
    parts: list[Any] = [pairs_of, right, one, taking_over, layers]
    parts += [variant.change, with_attention, nothing_added] if variant.change else []
    texts = [inspect.getsource(part) for part in parts]
    texts += [repr(TASK.sizes), repr(TASK.settings)]
    files = [*MADE_FROM, *(f"variants/{file}.py" for file in variant.files)]
    texts += [(SNIPPETS / file).read_text("utf-8") for file in files]
    for file, sections in SECTIONS.items():
        found = book.sections(SNIPPETS / file)
        texts += [found[section] for section in sections]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def main() -> None:
    torch.set_num_threads(1)
    done = json.loads(RESULTS.read_text("utf-8"))["runs"] if RESULTS.exists() else []
    keys = {name: key(name) for name in VARIANTS}
    by = {(run["seed"], run["variant"]): run for run in done if run["key"] == keys[run["variant"]]}
    order = [(seed, name) for seed in SEEDS for name in VARIANTS]
    environment = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cores": os.cpu_count(),
        "threads": 1,
    }
    for seed, name in order:
        if (seed, name) in by:
            continue
        found = one(name, seed)
        print(f"{name}, seed {seed}: {found}", flush=True)
        by[seed, name] = {"variant": name, "seed": seed, "key": keys[name], **found}
        runs = [by[place] for place in order if place in by]
        record = {"environment": environment, "steps": TASK.settings.steps, "runs": runs}
        RESULTS.write_text(f"{json.dumps(record, ensure_ascii=False, indent=1)}\n", "utf-8")


if __name__ == "__main__":
    main()
