#!/usr/bin/env python3
"""The variants that came after 2017, each trained in place of the part that it replaces.

All learn the numerals with the data, sizes and batches of python train.py numerals, in fewer
steps. Each variant is trained with three peaks of the learning rate and two seeds. The peak with
the smallest loss on the validation set, above the smallest possible loss, is then used with three
more seeds. Shared parts start from the same weights. Measured on the test set of numbers of at
most ten digits, and on numbers of eleven and twelve digits, which the training set lacks.
Then a smaller task that depends on the order alone: name the token some positions back. It is
trained on 5 to 20 tokens and measured on more, also with three learning rates.
Each run is written to snippets/results/variants.json when it ends, with a key over the code that
made it; a second call makes only those that are missing or whose key has changed.
"""

import ast
import inspect
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import batching
import corpus
import decode
import train
import trainer
import translator
from bookbuild.pages import fresh
from bookbuild.pages.sections import read_sections
from corpus import Pair
from experiments.common.sweeps import (
    Job,
    Run,
    Task,
    best_rate,
    best_runs,
    ratio_with_interval,
    run_sweep,
)
from transformer import (
    LayerNorm,
    MultiHeadAttention,
    PositionalEncoding,
    TokenEmbedding,
    TransformerConfig,
    causal_mask,
    initialize,
)
from translator import PAD, Translator
from variants.alibi import ALiBiAttention
from variants.decoder_2023 import Decoder2023, DecoderConfig
from variants.decoder_only import DecoderOnly
from variants.grouped import GroupedQueryAttention
from variants.learned import LearnedPositions
from variants.one_sequence import new_one_sequence
from variants.rmsnorm import RMSNorm
from variants.rotary import RotaryAttention
from variants.swiglu import GELUFeedForward, SwiGLU
from variants.window import WindowAttention, sliding_window_mask

SNIPPETS = Path(__file__).resolve().parents[2] / "snippets"

RESULTS = SNIPPETS / "results" / "variants.json"
FILES = ("transformer.py", "numerals.py")  # and the variant's own
SECTIONS = {  # of files that have more in them
    "corpus.py": ("pairs", "vocabulary", "numerals"),
    "batching.py": ("imports", "batches"),
    "trainer.py": ("label_smoothing", "schedules", "forward_backward", "trainer"),
    "translator.py": ("translator",),
}
TASK = train.TASKS["numerals"]
SETTINGS = replace(TASK.settings, steps=600)
PEAKS = (2e-3, 4e-3, 8e-3)
LOSS_STEPS = (100, 300, 600)
BACK = (1, 3)
BACK_LENGTHS = (20, 40, 100, 400)
BACK_RATES = (1e-3, 3e-3, 1e-2)


# What is changed


def ours(pairs: list[Pair], seed: int) -> Translator:
    return translator.new_translator(pairs, seed, **TASK.sizes)


def copy_shared_weights(new: nn.Module, old: nn.Module) -> nn.Module:
    """The new part, with the weights of the old where it has the same; else initialized."""
    new.apply(initialize)
    shapes = {name: weight.shape for name, weight in new.state_dict().items()}
    same = {k: v for k, v in old.state_dict().items() if shapes.get(k) == v.shape}
    new.load_state_dict(same, strict=False)
    return new


def changed(kind: type, names: str, more: dict, pairs: list[Pair], seed: int) -> Translator:
    """Ours with another part wherever it has one of these names."""
    made = ours(pairs, seed)
    sizes = {key: TASK.sizes[key] for key in ("d_model", "nhead", "dim_feedforward", "dropout")}
    sizes |= {"max_len": made.model.config.max_len} | more
    wanted = inspect.signature(kind).parameters
    for path, old in list(made.model.named_modules()):
        parent, _, name = path.rpartition(".")
        if name in names.split():
            new = kind(**{key: size for key, size in sizes.items() if key in wanted})
            setattr(made.model.get_submodule(parent), name, copy_shared_weights(new, old))
    return made


def unmarked(kind: type, pairs: list[Pair], seed: int) -> Translator:
    """Nothing is added to the embeddings; the self-attention knows the order instead."""
    made = changed(kind, "self_attention", {}, pairs, seed)
    made.model.register_module("position", nn.Identity())
    return made


def alone(pairs: list[Pair], seed: int) -> Translator:
    """One stack, as many layers in it as ours has in both."""

    def make(vocab_size: int) -> nn.Module:
        sizes = TASK.sizes | {"num_encoder_layers": 4, "num_decoder_layers": 0}
        return DecoderOnly(TransformerConfig(vocab_size, vocab_size, max_len=64, **sizes))

    return new_one_sequence(make, pairs, seed)


def as_of_2023(pairs: list[Pair], seed: int) -> Translator:
    def make(vocab_size: int) -> nn.Module:
        d, nhead, width = (TASK.sizes[key] for key in ("d_model", "nhead", "dim_feedforward"))
        return Decoder2023(DecoderConfig(vocab_size, d, nhead, 2, 4, round(width * 2 / 3)))

    return new_one_sequence(make, pairs, seed)


class Variant(NamedTuple):
    """What makes it, from pairs and a seed, and of which files."""

    make: Callable[[list[Pair], int], Translator]
    files: tuple[str, ...] = ()


ATTENTIONS = "self_attention cross_attention"
THIRDS = {"dim_feedforward": round(TASK.sizes["dim_feedforward"] * 2 / 3)}
VARIANTS = {
    "sinusoids": Variant(ours),
    "learned": Variant(partial(changed, LearnedPositions, "position", {}), ("learned",)),
    "rotary": Variant(partial(unmarked, RotaryAttention), ("rotary",)),
    "ALiBi": Variant(partial(unmarked, ALiBiAttention), ("alibi",)),
    "window": Variant(partial(changed, WindowAttention, "self_attention", {}), ("window",)),
    "RMSNorm": Variant(partial(changed, RMSNorm, "norm", {}), ("rmsnorm",)),
    "GELU": Variant(partial(changed, GELUFeedForward, "feed_forward", {}), ("swiglu",)),
    "SwiGLU": Variant(partial(changed, SwiGLU, "feed_forward", THIRDS), ("swiglu",)),
    "grouped": Variant(
        partial(changed, GroupedQueryAttention, ATTENTIONS, {"num_kv_heads": 2}), ("grouped",)
    ),
    "multi-query": Variant(
        partial(changed, GroupedQueryAttention, ATTENTIONS, {"num_kv_heads": 1}), ("grouped",)
    ),
    "decoder only": Variant(alone, ("decoder_only", "one_sequence")),
    "decoder 2023": Variant(
        as_of_2023, ("decoder_2023", "one_sequence", "rotary", "rmsnorm", "swiglu")
    ),
}


# The numerals


@cache
def pairs_of(what: str | int) -> list[Pair]:
    """A part of the task, or numbers of so many digits."""
    if isinstance(what, str):
        return TASK.pairs(what)
    rng = random.Random(what)
    return [corpus.number_pair(corpus.random_number(rng, what)) for _ in range(1000)]


def teacher_forced(model: Translator, pairs: list[Pair]) -> tuple[list[bool], float, float]:
    """Whether each pair is translated without an error, the fraction of correct characters, and
    the loss above its minimum, in nats a character.

    Greedy decoding writes a translation exactly if, after each of its beginnings, the likeliest
    token is the next one. So one pass with teacher forcing finds both, for all variants alike.
    The minimum is the entropy of the smoothed target, which depends on the vocabulary.
    """
    correct: list[bool] = []
    characters, total, loss = 0, 0, 0.0
    with decode.eval_mode(model.model):
        for i in range(0, len(pairs), 250):
            batch = [batching.example_of(model, pair) for pair in pairs[i : i + 250]]
            src, tgt = (translator.padded(ids) for ids in zip(*batch, strict=True))
            logits, targets = model.model(src, tgt[:, :-1]), tgt[:, 1:]
            real = targets != PAD
            mean = trainer.label_smoothed_cross_entropy(logits, targets, SETTINGS.smoothing, PAD)
            loss += (mean.item() - minimum_loss(logits.size(-1))) * int(real.sum())
            logits[..., PAD] = -torch.inf
            same = logits.argmax(dim=-1) == targets
            correct += (same | ~real).all(dim=-1).tolist()
            characters += int((same & real).sum())
            total += int(real.sum())
    return correct, characters / total, loss / total


def minimum_loss(vocab_size: int) -> float:
    """The entropy of the smoothed target, in nats."""
    target = torch.full((vocab_size,), SETTINGS.smoothing / vocab_size, dtype=torch.float64)
    target[0] += 1 - SETTINGS.smoothing
    return -(target * target.log()).sum().item()


def numerals(name: str, seed: int, peak: float) -> dict[str, Any]:
    """A variant, trained with a seed and a learning rate, and measured."""
    pairs = pairs_of("train")
    model = VARIANTS[name].make(pairs, seed)
    settings = replace(SETTINGS, seed=seed, peak=peak)
    run = trainer.Trainer(model, pairs, [], settings)
    excess, seconds = {}, 0.0
    model.model.train()
    started = time.process_time()
    for _ in run.steps(Event()):
        if run.step in LOSS_STEPS:
            seconds += time.process_time() - started
            excess[run.step] = round(teacher_forced(model, pairs_of("validation"))[2], 6)
            model.model.train()
            started = time.process_time()
    result: dict[str, Any] = {
        "excess": excess,
        "seconds": round(seconds, 1),
        "parameters": sum(weight.numel() for weight in model.model.parameters()),
    }
    longest = max(len(pair.source) for pair in pairs)
    for what in ("test", 11, 12):
        new = pairs_of(what)
        correct, characters, _ = teacher_forced(model, new)
        short = [it for it, pair in zip(correct, new, strict=True) if len(pair.source) <= longest]
        result |= {
            f"{what}": round(statistics.fmean(correct), 4),
            f"{what}, no longer than in training": round(statistics.fmean(short), 4),
            f"{what}, characters": round(characters, 4),
        }
    return result


# The token some places back


class OneLayer(nn.Module):
    """One causal self-attention, and what it reads added to the token."""

    def __init__(self, position: nn.Module, attention: nn.Module, window: int):
        super().__init__()
        self.embedding, self.position = TokenEmbedding(10, 64), position
        self.attention, self.window = attention, window
        self.norm, self.output = LayerNorm(64), nn.Linear(64, 10)
        self.apply(initialize)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.position(self.embedding(ids))
        size = ids.size(1)
        mask = causal_mask(size) & sliding_window_mask(size, self.window)
        return self.output(self.norm(x + self.attention(x, x, x, mask)[0]))


LONGEST = max(BACK_LENGTHS)
ONE_LAYER: dict[str, Callable[[], OneLayer]] = {
    "sinusoids": lambda: OneLayer(
        PositionalEncoding(64, LONGEST, 0.0), MultiHeadAttention(64, 8), LONGEST
    ),
    "learned": lambda: OneLayer(
        LearnedPositions(64, LONGEST, 0.0), MultiHeadAttention(64, 8), LONGEST
    ),
    "rotary": lambda: OneLayer(nn.Identity(), RotaryAttention(64, 8), LONGEST),
    "ALiBi": lambda: OneLayer(nn.Identity(), ALiBiAttention(64, 8), LONGEST),
    "rotary in a window": lambda: OneLayer(nn.Identity(), RotaryAttention(64, 8), 20),
}


def back(name: str, seed: int, rate: float) -> dict[str, Any]:
    """The loss at the end of training; the fraction correct at each distance and length."""
    result: dict[str, Any] = {"loss": 0.0}
    for distance in BACK:
        torch.manual_seed(seed)
        model = ONE_LAYER[name]()
        optimizer = torch.optim.Adam(model.parameters(), lr=rate)
        losses = []
        for _ in range(500):
            ids = torch.randint(10, (64, int(torch.randint(5, 21, ()))))
            logits = model(ids)[:, distance:]
            loss = F.cross_entropy(logits.flatten(0, 1), ids[:, :-distance].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        result["loss"] += round(statistics.fmean(losses[-50:]), 5)
        with torch.no_grad():
            for length in BACK_LENGTHS:
                ids = torch.randint(10, (100, length))
                same = model(ids)[:, distance:].argmax(dim=-1) == ids[:, :-distance]
                result[f"{distance} back, length {length}"] = round(same.float().mean().item(), 4)
    return result


# The file


@cache
def own_code() -> dict[str, str]:
    """The functions and classes of this file, by name."""
    text = Path(__file__).read_text("utf-8")
    kinds = ast.ClassDef, ast.FunctionDef
    found = [node for node in ast.parse(text).body if isinstance(node, kinds)]
    return {
        node.name: translator.code_only(ast.get_source_segment(text, node) or "") for node in found
    }


def key_of_numerals(name: str) -> str:
    """Of all that decides the figures of a variant."""
    make, files = VARIANTS[name]
    parts = ["pairs_of", "teacher_forced", "minimum_loss", "numerals", "ours"]
    if isinstance(make, partial):
        parts += [make.func.__name__, "changed", "copy_shared_weights"]
        arguments = [getattr(each, "__name__", repr(each)) for each in make.args]
    else:
        parts, arguments = [*parts, make.__name__], []
    texts = [*(own_code()[part] for part in parts), *arguments]
    texts += [repr(TASK.sizes), repr(SETTINGS), repr(LOSS_STEPS)]
    for file in (*FILES, *(f"variants/{each}.py" for each in files)):
        texts.append(translator.code_only((SNIPPETS / file).read_text("utf-8")))
    for file, sections in SECTIONS.items():
        found = read_sections(SNIPPETS / file)
        texts += [translator.code_only(found[section]) for section in sections]
    return fresh.hash_texts(texts)


def key_of_back(name: str) -> str:
    """Likewise; all kinds share one, since together they take three minutes."""
    files = (
        "transformer",
        *(f"variants/{each}" for each in ("learned", "rotary", "alibi", "window")),
    )
    texts = [translator.code_only((SNIPPETS / f"{file}.py").read_text("utf-8")) for file in files]
    return fresh.hash_texts([*texts, own_code()["OneLayer"], own_code()["back"], repr(BACK), name])


def summary(runs: dict[Job, Run]) -> dict[str, Any]:
    """The loss of each variant above its minimum, as a ratio to that of the sinusoids."""

    def excess(variant: str, step: int) -> list[float]:
        return [run["excess"][str(step)] for run in best_runs(SWEEP, runs, "numerals", variant)]

    others = [name for name in VARIANTS if name != "sinusoids"]
    comparisons = len(others) * len(LOSS_STEPS)
    ratios = {
        name: {
            step: ratio_with_interval(excess(name, step), excess("sinusoids", step), comparisons)
            for step in LOSS_STEPS
        }
        for name in others
    }
    best = {
        task: {name: best_rate(SWEEP, task, name, runs) for name in SWEEP[task].rates}
        for task in SWEEP
    }
    return {"steps": SETTINGS.steps, "best": best, "comparisons": comparisons, "ratios": ratios}


SWEEP = {
    "back": Task(back, key_of_back, lambda run: run["loss"], dict.fromkeys(ONE_LAYER, BACK_RATES)),
    "numerals": Task(
        numerals,
        key_of_numerals,
        lambda run: run["excess"][str(LOSS_STEPS[-1])],
        dict.fromkeys(VARIANTS, PEAKS),
    ),
}


if __name__ == "__main__":
    run_sweep(RESULTS, SWEEP, summary)
