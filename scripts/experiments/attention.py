#!/usr/bin/env python3
"""Explicit against fused attention: time and peak memory at several lengths.

Each is one forward and one backward pass on one thread, float32, batch 1, eight
heads of 64 features, no mask. Times are the processor's, medians of alternating
runs; each peak of memory is that of a process of its own, above what it held
before.
Writes snippets/results/attention.json. Needs Linux, for /proc.
"""

import json
import os
import platform
import statistics
import time
from pathlib import Path

import torch

import transformer
import translator

SNIPPETS = Path(__file__).resolve().parents[2] / "snippets"

LENGTHS = (128, 256, 512, 1024, 2048, 4096)
HEADS, HEAD_DIM = 8, 64
PATHS = {
    "explicit": transformer.scaled_dot_product_attention,
    "fused": transformer.fused_attention,
}


def step(path: str, length: int) -> None:
    """Attention forward and backward, from random queries, keys and values."""
    shape = (3, 1, HEADS, length, HEAD_DIM)
    query, key, value = torch.randn(shape).requires_grad_()
    PATHS[path](query, key, value)[0].sum().backward()


def seconds(path: str, length: int) -> float:
    started = time.process_time()
    step(path, length)
    return time.process_time() - started


def status(field: str) -> int:
    """A size in this process's status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def peak(path: str, length: int) -> int:
    """The memory that a step takes at most, in bytes, measured in a child."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            step(path, 16)
            Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
            before = status("VmRSS")
            step(path, length)
            os.write(writer, str(status("VmHWM") - before).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        measured = int(answer.read())
    os.waitpid(child, 0)
    return measured


def measure() -> dict:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    # Memory first: what a process has freed once, it takes again unseen.
    peaks = {path: [peak(path, length) for length in LENGTHS] for path in PATHS}
    times: dict[str, list[float]] = {path: [] for path in PATHS}
    for length in LENGTHS:
        runs: dict[str, list[float]] = {path: [] for path in PATHS}
        for turn in range(4 if length > 1000 else 12):
            for path in PATHS:
                taken = seconds(path, length)
                if turn:  # the first run only warms up
                    runs[path].append(taken)
        for path in PATHS:
            times[path].append(round(statistics.median(runs[path]), 6))
        print(length, {path: times[path][-1] for path in PATHS}, flush=True)
    return {path: {"seconds": times[path], "bytes": peaks[path]} for path in PATHS}


def main() -> None:
    key = translator.code_key(Path(__file__), Path(transformer.__file__))
    environment = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cores": os.cpu_count(),
    }
    sizes = {"heads": HEADS, "head_dim": HEAD_DIM, "lengths": LENGTHS}
    text = json.dumps({"key": key, "environment": environment, **sizes, **measure()}, indent=1)
    target = SNIPPETS / "results" / "attention.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(f"{text}\n")


if __name__ == "__main__":
    main()
