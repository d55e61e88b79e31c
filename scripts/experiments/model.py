#!/usr/bin/env python3
"""Our model against torch.nn.Transformer with the same weights: time and peak memory.

Each is one forward and one backward pass of both stacks, float32, in training
mode with dropout 0, pre-norm, with padding and causal masks, on one thread.
"fused" is the model as it is; "explicit" computes attention and LayerNorm by
the functions that write them out. Times are the processor's; each ratio is the
median over rounds in which all take turns. Peaks of memory are those of all
tensors, from every allocation that PyTorch's profiler notes, above what weights
and their gradients take. Writes snippets/results/model.json.
"""

import copy
import functools
import itertools
import json
import os
import platform
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

import transformer
import translator
from transformer import Transformer, TransformerConfig, causal_mask, padding_mask

SNIPPETS = Path(__file__).resolve().parents[2] / "snippets"

SIZES = ((64, 16, 22), (16, 128, 128), (4, 512, 512))  # batch, source, target
ROUNDS = (13, 5, 5)
WIDTHS = {"d_model": 256, "nhead": 4, "dim_feedforward": 1024}
LAYERS = 2
VOCABULARY = 1000

Step = Callable[[int, int, int], None]


# What nn.Transformer calls our parts; query, key and value are one matrix there.
NAMES = {
    "self_attention": "self_attn",
    "cross_attention": "multihead_attn",
    "query.": "in_proj_",
    "key.": "in_proj_",
    "value.": "in_proj_",
    "output.": "out_proj.",
    "feed_forward.": "",
}


def copy_weights(ours: Transformer, theirs: nn.Transformer) -> None:
    """Our stacks' weights, into nn.Transformer."""
    state: dict[str, Tensor] = {}
    for name, value in ours.state_dict().items():
        if name.startswith(("encoder.", "decoder.")):
            for own, other in NAMES.items():
                name = name.replace(own, other)
            state[name] = torch.cat([state[name], value]) if name in state else value
    theirs.load_state_dict(state)


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    centered = x - x.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)
    return centered * (variance + eps).rsqrt() * weight + bias


def written_out(model: Transformer) -> Transformer:
    """A copy that takes no fused kernel: it asks for the weights, and norms by the formula."""
    model = copy.deepcopy(model)
    for module in model.modules():
        if isinstance(module, transformer.MultiHeadAttention):
            module.forward = functools.partial(module.forward, need_weights=True)
        if isinstance(module, transformer.LayerNorm):
            module.forward = functools.partial(
                layer_norm, weight=module.weight, bias=module.bias, eps=module.eps
            )
    return model


def inputs(batch: int, source: int, target: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Ids, with padding in every second sentence, and random vectors for them."""
    torch.manual_seed(1)
    src = torch.randint(1, VOCABULARY, (batch, source))
    tgt = torch.randint(1, VOCABULARY, (batch, target))
    src[::2, source * 3 // 4 :] = 0
    tgt[::2, target * 3 // 4 :] = 0
    d = WIDTHS["d_model"]
    return src, tgt, torch.randn(batch, source, d), torch.randn(batch, target, d)


def run_ours(model: Transformer, src: Tensor, tgt: Tensor, x: Tensor, y: Tensor) -> Tensor:
    source_mask = padding_mask(src)
    target_mask = causal_mask(tgt.size(1)) & padding_mask(tgt)
    return model.decoder(y, model.encoder(x, source_mask), target_mask, source_mask)


def run_theirs(model: nn.Transformer, src: Tensor, tgt: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return model(
        x,
        y,
        tgt_mask=~causal_mask(tgt.size(1))[0, 0],
        src_key_padding_mask=src == 0,
        tgt_key_padding_mask=tgt == 0,
        memory_key_padding_mask=src == 0,
    )


def steps() -> dict[str, Step]:
    """A function for each path that does one forward and one backward pass."""
    torch.manual_seed(0)
    config = TransformerConfig(
        VOCABULARY,
        VOCABULARY,
        num_encoder_layers=LAYERS,
        num_decoder_layers=LAYERS,
        dropout=0.0,
        norm_first=True,
        **WIDTHS,
    )
    ours = Transformer(config)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that norm_first has no nested tensors
        theirs = nn.Transformer(
            num_encoder_layers=LAYERS,
            num_decoder_layers=LAYERS,
            dropout=0.0,
            batch_first=True,
            norm_first=True,
            **WIDTHS,
        )
    copy_weights(ours, theirs)
    paths = {
        "explicit": functools.partial(run_ours, written_out(ours)),
        "fused": functools.partial(run_ours, ours),
        "torch": functools.partial(run_theirs, theirs),
    }
    given = inputs(3, 7, 5)
    wanted = paths["torch"](*given)
    for run in paths.values():
        torch.testing.assert_close(run(*given), wanted, rtol=1e-4, atol=1e-5)

    def step(run: Callable[..., Tensor], batch: int, source: int, target: int) -> None:
        run(*inputs(batch, source, target)).square().mean().backward()

    return {name: functools.partial(step, run) for name, run in paths.items()}


def seconds(step: Step, size: tuple[int, int, int]) -> float:
    started = time.process_time()
    step(*size)
    return time.process_time() - started


def peak(step: Step, size: tuple[int, int, int]) -> int:
    """The bytes that all tensors together take at most, above those held before."""
    step(1, 4, 4)  # from here on every parameter has its gradient
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        step(*size)
    recorder = profiler.profiler
    assert recorder and recorder.kineto_results
    events = recorder.kineto_results.events()
    changes: list[Any] = [event for event in events if event.name() == "[memory]"]
    changes.sort(key=lambda event: event.start_ns())
    return max(itertools.accumulate(change.nbytes() for change in changes))


def measure() -> list[dict]:
    torch.set_num_threads(1)
    paths = steps()
    peaks = [{name: peak(step, size) for name, step in paths.items()} for size in SIZES]
    rows = []
    for size, rounds, memory in zip(SIZES, ROUNDS, peaks, strict=True):
        turns = []
        for turn in range(rounds + 1):
            taken = {name: seconds(step, size) for name, step in paths.items()}
            if turn:  # the first round only warms up
                turns.append(taken)
        row: dict = {"size": size, "seconds": {}, "time": {}, "bytes": memory, "memory": {}}
        for name in paths:
            row["seconds"][name] = round(statistics.median(t[name] for t in turns), 5)
            ratio = statistics.median(t[name] / t["torch"] for t in turns)
            row["time"][name] = round(ratio, 3)
            row["memory"][name] = round(memory[name] / memory["torch"], 3)
        print(size, "time:", row["time"], "memory:", row["memory"], flush=True)
        rows.append(row)
    return rows


def main() -> None:
    key = translator.code_key(Path(__file__), Path(transformer.__file__))
    environment = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cores": os.cpu_count(),
    }
    model = {**WIDTHS, "layers": LAYERS, "norm_first": True}
    record = {"key": key, "environment": environment, "model": model, "rows": measure()}
    target = SNIPPETS / "results" / "model.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(f"{json.dumps(record, indent=1)}\n")


if __name__ == "__main__":
    main()
