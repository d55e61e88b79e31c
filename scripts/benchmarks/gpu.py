#!/usr/bin/env python3
"""Compare a training step of our Transformer with one of nn.Transformer, on a GPU.

The sizes are those of the paper's base model, in bfloat16, unless options say otherwise. The models
take turns, so the ratio of their times doesn't depend on what else the machine does. Exits with 1
if ours is slower. Several GPUs, whose gradients are averaged:
.venv/bin/torchrun --nproc-per-node 8 scripts/benchmarks/gpu.py
"""

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("snippets", "scripts")]
from bookbuild.reference.claim_results import code_key  # noqa: E402
from train import DistributedContext, distributed_context  # noqa: E402
from transformer import Transformer, TransformerConfig, causal_mask  # noqa: E402

MAX_RATIO = 1.0  # of the times of forward and backward, ours to those of nn.Transformer
BASE = TransformerConfig(37_000, 37_000, tie_embeddings=True)  # the paper, sections 5.1 and 6.2
SMALL = TransformerConfig(1000, 1000, 64, 4, 2, 2, 256, tie_embeddings=True)
FILES = ["snippets/transformer.py", "scripts/benchmarks/gpu.py"]


class Reference(nn.Module):
    """nn.Transformer between the embeddings and the logits of our model.

    Shapes: src (batch, m), tgt (batch, n) -> (batch, n, tgt_vocab_size).
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.ours, self.pad_id = Transformer(config), config.pad_id
        self.layers = nn.Transformer(
            config.d_model,
            config.nhead,
            config.num_encoder_layers,
            config.num_decoder_layers,
            config.dim_feedforward,
            config.dropout,
            batch_first=True,
        )
        self.layers.encoder.norm = self.layers.decoder.norm = None  # post-norm, as in the paper
        del self.ours.encoder, self.ours.decoder

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        source = self.ours.position(self.ours.src_embedding(src))
        target = self.ours.position(self.ours.tgt_embedding(tgt))
        hidden = src == self.pad_id
        output = self.layers(
            source,
            target,
            tgt_mask=~causal_mask(tgt.size(1), tgt.device)[0, 0],
            src_key_padding_mask=hidden,
            tgt_key_padding_mask=tgt == self.pad_id,
            memory_key_padding_mask=hidden,
        )
        return self.ours.logits(output)


def random_batch(
    options: argparse.Namespace, vocab_size: int, device: torch.device
) -> list[Tensor]:
    """Sources, targets, answers: ids (batch, length); a tenth of each source is <pad>."""
    shape = (options.batch, options.length)
    src, tgt, answers = torch.randint(3, vocab_size, (3, *shape), device=device)
    src[:, options.length - options.length // 10 :] = 0
    return [src, tgt, answers]


class Measured:
    """A model with its optimizer, and the times of its steps."""

    def __init__(self, model: nn.Module, options: argparse.Namespace, group: DistributedContext):
        self.device, self.bfloat16 = group.device, not options.float32
        self.model = model.to(group.device)
        if options.compile:
            self.model.compile()
        self.trained = DistributedDataParallel(self.model) if group.count > 1 else self.model
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-4)
        self.times: list[float] = []  # of forward and backward, in seconds
        self.step_times: list[float] = []  # with the optimizer
        self.peak_bytes = 0

    def seconds(self, work: Callable[[], None]) -> float:
        wait = torch.cuda.synchronize if self.device.type == "cuda" else lambda: None
        wait()
        start = time.perf_counter()
        work()
        wait()
        return time.perf_counter() - start

    def forward_and_backward(self, src: Tensor, tgt: Tensor, answers: Tensor) -> None:
        with torch.autocast(self.device.type, torch.bfloat16, self.bfloat16):
            logits = self.trained(src, tgt)
        F.cross_entropy(logits.flatten(0, 1).float(), answers.flatten()).backward()

    def step(self, batch: list[Tensor], measure: bool) -> None:
        self.optimizer.zero_grad()
        gpu, before = self.device.type == "cuda", 0
        if gpu:
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
        both = self.seconds(lambda: self.forward_and_backward(*batch))
        if gpu:
            self.peak_bytes = max(self.peak_bytes, torch.cuda.max_memory_allocated() - before)
        update = self.seconds(self.optimizer.step)
        if measure:
            self.times.append(both)
            self.step_times.append(both + update)


def measure(options: argparse.Namespace, group: DistributedContext) -> dict[str, Any]:
    """The figures of both models; times are medians."""
    config = SMALL if options.small else BASE
    torch.manual_seed(group.rank)
    models = {"ours": Transformer(config), "nn.Transformer": Reference(config)}
    measured = {name: Measured(model, options, group) for name, model in models.items()}
    batch = random_batch(options, config.src_vocab_size, group.device)
    for i in range(options.warmup + options.steps):
        for each in measured.values():
            each.step(batch, i >= options.warmup)
    ours, reference = measured.values()
    pairs = zip(ours.times, reference.times, strict=True)
    gpu = group.device.type == "cuda"
    return {
        "machine": torch.cuda.get_device_name()
        if gpu
        else platform.processor() or platform.machine(),
        "processes": group.count,
        "torch": torch.__version__,
        "key": code_key(FILES),
        "options": vars(options),
        "forward and backward, ratio": round(statistics.median(a / b for a, b in pairs), 3),
    } | {
        name: {
            "parameters": sum(p.numel() for p in each.model.parameters()),
            "forward and backward, ms": round(1000 * statistics.median(each.times), 2),
            "target tokens a second, all processes": round(
                group.count * batch[1].numel() / statistics.median(each.step_times)
            ),
            "peak memory of forward and backward, MB": round(each.peak_bytes / 1e6)
            if gpu
            else None,
        }
        for name, each in measured.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=196, help="sentences (default: 196)")
    parser.add_argument("--length", type=int, default=128, help="tokens of a sentence")
    parser.add_argument("--steps", type=int, default=30, help="steps that are measured")
    parser.add_argument("--warmup", type=int, default=5, help="steps before these")
    parser.add_argument("--small", action="store_true", help="a small model, to try this on a CPU")
    parser.add_argument("--float32", action="store_true", help="without bfloat16")
    parser.add_argument("--compile", action="store_true", help="with torch.compile")
    options = parser.parse_args()
    with distributed_context() as group:
        if group.device.type == "cpu" and not options.small:
            sys.exit("This needs a GPU. On a CPU: scripts/bench gpu --small --batch 8 --length 32")
        figures = measure(options, group)
        if group.rank == 0:
            print(json.dumps(figures, indent=1))
    if group.rank == 0 and figures["forward and backward, ratio"] > MAX_RATIO:
        sys.exit(f"slower than nn.Transformer: above {MAX_RATIO}")


if __name__ == "__main__":
    main()
