#!/usr/bin/env python3
"""The variants that came after 2017, each trained in place of the part that it replaces.

All learn the numerals task as python train.py numerals sets it: the same numbers, sizes,
steps, rate and batches, with three seeds. What a variant shares with ours starts from the
same weights. Measured on the held-out numbers of at most ten digits, and on numbers of
eleven and twelve, which training never had.
Then a smaller task that only asks for the order: name the token some places back. It is
trained on 5 to 20 tokens and measured on more.
Each run is written to snippets/results/variants.json as it ends, with a key over what made
it; a second call makes only those that are missing or whose key has changed.
"""

import ast
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
from functools import cache, partial
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SNIPPETS = Path(__file__).resolve().parents[2] / "snippets"
elsewhere = [path for path in sys.path if Path(path) != Path(__file__).parent]
sys.path[:] = [str(SNIPPETS), str(SNIPPETS.parent / "scripts"), *elsewhere]  # not this variants
import corpus  # noqa: E402
import decode  # noqa: E402
import train  # noqa: E402
import translator  # noqa: E402
from bookbuild.pages.sections import read_sections  # noqa: E402
from corpus import Pair  # noqa: E402
from transformer import (  # noqa: E402
    LayerNorm,
    MultiHeadAttention,
    PositionalEncoding,
    TokenEmbedding,
    TransformerConfig,
    causal_mask,
    initialise,
)
from translator import PAD, Translator  # noqa: E402
from variants.alibi import ALiBiAttention  # noqa: E402
from variants.decoder_2023 import Decoder2023, DecoderConfig  # noqa: E402
from variants.decoder_only import DecoderOnly  # noqa: E402
from variants.grouped import GroupedQueryAttention  # noqa: E402
from variants.learned import LearnedPositions  # noqa: E402
from variants.one_sequence import new_one_sequence  # noqa: E402
from variants.rmsnorm import RMSNorm  # noqa: E402
from variants.rotary import RotaryAttention  # noqa: E402
from variants.swiglu import GELUFeedForward, SwiGLU  # noqa: E402
from variants.window import WindowAttention, sliding_window_mask  # noqa: E402

RESULTS = SNIPPETS / "results" / "variants.json"
FILES = ("transformer.py", "numerals.py")  # and the variant's own
SECTIONS = {  # of files that have more in them
    "corpus.py": ("pairs", "vocabulary", "numerals"),
    "train.py": ("label_smoothing", "schedules", "batches", "gradients", "run"),
    "translator.py": ("translator",),
}
SEEDS = (0, 1, 2)
TASK = train.TASKS["numerals"]
BACK = (1, 3)
BACK_LENGTHS = (20, 40, 100, 400)


# What is changed


def ours(pairs: list[Pair], seed: int) -> Translator:
    return translator.new_translator(pairs, seed, **TASK.sizes)


def taking_over(new: nn.Module, old: nn.Module) -> nn.Module:
    """The new part, with the weights of the old where it has the same; else initialised."""
    new.apply(initialise)
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
            setattr(made.model.get_submodule(parent), name, taking_over(new, old))
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


def right(found: Translator, pairs: list[Pair]) -> tuple[list[bool], float]:
    """Whether each is translated without a fault; and the share of the characters that are
    right where those before are given, the end among them.

    Greedy decoding writes a translation exactly if, given each beginning of it, the
    likeliest token is the next one. So one pass tells, for all variants alike.
    """
    whole: list[bool] = []
    characters = total = 0
    with decode.eval_mode(found.model):
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


def numerals(name: str, seed: int) -> dict[str, Any]:
    """A variant, trained with a seed and measured."""
    pairs = pairs_of("train")
    made = VARIANTS[name].make(pairs, seed)
    run = train.Run(made, pairs, replace(TASK.settings, seed=seed), train.SINGLE_PROCESS)
    made.model.train()
    started = time.process_time()
    losses = [loss for loss, _ in run.steps(Event())]
    seconds = time.process_time() - started
    hundreds = [losses[i : i + 100] for i in range(0, len(losses), 100)]
    found: dict[str, Any] = {
        "curve": [round(statistics.fmean(part), 3) for part in hundreds],
        "seconds": round(seconds, 1),
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


# The token some places back


class OneLayer(nn.Module):
    """One causal self-attention, and what it reads added to the token."""

    def __init__(self, position: nn.Module, attention: nn.Module, window: int):
        super().__init__()
        self.embedding, self.position = TokenEmbedding(10, 64), position
        self.attention, self.window = attention, window
        self.norm, self.output = LayerNorm(64), nn.Linear(64, 10)
        self.apply(initialise)

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


def back(name: str, seed: int) -> dict[str, Any]:
    """The share named rightly, for each number of places and each length."""
    found: dict[str, Any] = {}
    for places in BACK:
        torch.manual_seed(seed)
        model = ONE_LAYER[name]()
        optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
        for _ in range(500):
            ids = torch.randint(10, (64, int(torch.randint(5, 21, ()))))
            guess = model(ids)[:, places:]
            loss = F.cross_entropy(guess.flatten(0, 1), ids[:, :-places].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            for length in BACK_LENGTHS:
                ids = torch.randint(10, (100, length))
                same = model(ids)[:, places:].argmax(dim=-1) == ids[:, :-places]
                found[f"{places} back, length {length}"] = round(same.float().mean().item(), 4)
    return found


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
    parts = ["pairs_of", "right", "numerals", "ours"]
    if isinstance(make, partial):
        parts += [make.func.__name__, "changed", "taking_over"]
        given = [getattr(each, "__name__", repr(each)) for each in make.args]
    else:
        parts, given = [*parts, make.__name__], []
    texts = [*(own_code()[part] for part in parts), *given]
    texts += [repr(TASK.sizes), repr(TASK.settings)]
    for file in (*FILES, *(f"variants/{each}.py" for each in files)):
        texts.append(translator.code_only((SNIPPETS / file).read_text("utf-8")))
    for file, sections in SECTIONS.items():
        found = read_sections(SNIPPETS / file)
        texts += [translator.code_only(found[section]) for section in sections]
    return digest(texts)


def key_of_back(name: str) -> str:
    """Likewise; all kinds share one, since together they take three minutes."""
    files = (
        "transformer",
        *(f"variants/{each}" for each in ("learned", "rotary", "alibi", "window")),
    )
    texts = [translator.code_only((SNIPPETS / f"{file}.py").read_text("utf-8")) for file in files]
    return digest([*texts, own_code()["OneLayer"], own_code()["back"], repr(BACK), name])


def digest(texts: list[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


Job = tuple[int, str, str]  # seed, task, variant


def jobs() -> dict[Job, str]:
    """All runs in their order, each with its key."""
    found = {}
    for seed in SEEDS:
        found |= {(seed, "back", name): key_of_back(name) for name in ONE_LAYER}
        found |= {(seed, "numerals", name): key_of_numerals(name) for name in VARIANTS}
    return found


def main() -> None:
    torch.set_num_threads(1)
    keys = jobs()
    before = json.loads(RESULTS.read_text("utf-8"))["runs"] if RESULTS.exists() else []
    done = {(run["seed"], run["task"], run["variant"]): run for run in before}
    done = {job: run for job, run in done.items() if run["key"] == keys.get(job)}
    environment = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cores": os.cpu_count(),
        "threads": 1,
    }
    for job, key in keys.items():
        if job in done:
            continue
        seed, task, name = job
        found = numerals(name, seed) if task == "numerals" else back(name, seed)
        print(*job, found, flush=True)
        done[job] = {"seed": seed, "task": task, "variant": name, "key": key, **found}
        runs = [done[other] for other in keys if other in done]
        record = {"environment": environment, "steps": TASK.settings.steps, "runs": runs}
        RESULTS.write_text(f"{json.dumps(record, ensure_ascii=False, indent=1)}\n", "utf-8")


if __name__ == "__main__":
    main()
