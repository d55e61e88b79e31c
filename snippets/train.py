# --8<-- [start:imports]
"""Training: a Transformer learns to translate, in a minute or a few.

    python train.py numerals
    python train.py translator --seed 1 --out second
    python train.py translator --resume
    torchrun --nproc-per-node 2 train.py translator
    python train.py --pairs FILE.tsv (your own text: train_pairs.py --help)

Writes TASK.safetensors, and a checkpoint as it goes on; Ctrl-C saves
one too. On one thread the same seed gives the same weights, bit by bit.
"""

import argparse
import hashlib
import importlib
import math
import os
import random
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

import corpus
from checkpoints import load_checkpoint, save_checkpoint
from corpus import Pair
from translator import (
    BOS,
    EOS,
    PAD,
    Translator,
    exact_match,
    load_translator,
    new_translator,
    padded,
    save_translator,
)


# --8<-- [end:imports]
# --8<-- [start:label_smoothing]
def label_smoothed_cross_entropy(
    logits: Tensor, targets: Tensor, smoothing: float, ignore_index: int
) -> Tensor:
    """Mean over the real targets of -sum_v q(v) log p(v), in nats.

    q gives 1 - smoothing to the target and shares smoothing equally among all
    V tokens, the target again among them. Equal to F.cross_entropy.
    Shapes: logits (..., V), targets (...) int64 -> a number; NaN if every
    target is ignore_index. Raises ValueError for shapes that do not fit and a
    smoothing outside 0 .. 1. Source: Szegedy et al. 2016, section 7.
    """
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            "logits need the shape of the targets and one axis more, "
            f"got {tuple(logits.shape)} for {tuple(targets.shape)}"
        )
    if not 0 <= smoothing <= 1:
        raise ValueError(f"smoothing must lie in 0 .. 1, got {smoothing}")
    real = targets != ignore_index
    log_p = logits[real].log_softmax(dim=-1)  # (tokens, V)
    right = log_p.gather(-1, targets[real].unsqueeze(-1)).squeeze(-1)
    uniform = log_p.mean(dim=-1)  # (tokens,)
    return -((1 - smoothing) * right + smoothing * uniform).mean()


# --8<-- [end:label_smoothing]
# --8<-- [start:schedules]
def noam_learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    """The paper's rate: up for warmup_steps, then down as 1 / sqrt(step).

    Steps count from 1. Raises ValueError for a number below 1.
    Source: Vaswani et al. 2017, equation 3.
    """
    if min(step, d_model, warmup_steps) < 1:
        raise ValueError(
            "step, d_model and warmup_steps must be at least 1, "
            f"got {step}, {d_model} and {warmup_steps}"
        )
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


def linear_learning_rate(
    step: int, peak: float, warmup_steps: int, steps: int
) -> float:
    """Ours: straight up to the peak, then straight down to nearly 0.

    Raises ValueError unless 1 <= step <= steps and 1 <= warmup_steps < steps.
    """
    if not 1 <= step <= steps or not 1 <= warmup_steps < steps:
        raise ValueError(
            "step must lie in 1 .. steps and warmup_steps below steps, "
            f"got {step=}, {warmup_steps=} and {steps=}"
        )
    left = (steps + 1 - step) / (steps + 1 - warmup_steps)
    return peak * min(step / warmup_steps, left)


# --8<-- [end:schedules]
# --8<-- [start:settings]
@dataclass(frozen=True)
class Settings:
    """How to train; with the model's configuration it decides the weights."""

    steps: int = 1500
    batch_size: int = 64  # sentences, over all processes
    schedule: str = "linear"  # or "noam", the paper's
    peak: float = 4e-3  # of "linear"
    warmup_steps: int = 100
    smoothing: float = 0.1
    seed: int = 0
    bfloat16: bool = False
    compile: bool = False


def learning_rate(step: int, settings: Settings, d_model: int) -> float:
    """The rate of the schedule that the settings name."""
    warmup = settings.warmup_steps
    if settings.schedule == "noam":
        return noam_learning_rate(step, d_model, warmup)
    if settings.schedule == "linear":
        return linear_learning_rate(step, settings.peak, warmup, settings.steps)
    raise ValueError(f"schedule is linear or noam, got {settings.schedule!r}")


class Task(NamedTuple):
    """The data, by part; the sizes of the model; and how to train it."""

    pairs: Callable[[str], list[Pair]]
    sizes: dict[str, Any]
    settings: Settings


SIZES = {
    "d_model": 64,
    "nhead": 4,
    "num_encoder_layers": 2,
    "num_decoder_layers": 2,
    "dim_feedforward": 256,
    "dropout": 0.0,
    "norm_first": True,
}
TASKS = {
    "numerals": Task(corpus.numerals, SIZES, Settings()),
    "translator": Task(
        corpus.translator,
        SIZES | {"d_model": 96, "dim_feedforward": 384},
        Settings(steps=5000, peak=3e-3),
    ),
}


# --8<-- [end:settings]
# --8<-- [start:batches]
Example = tuple[Tensor, Tensor]  # ids of a source, and of <bos> target <eos>


def example_of(translator: Translator, pair: Pair) -> Example:
    src = translator.source.encode(pair.source)
    tgt = translator.target.encode(pair.target)
    return torch.tensor(src), torch.tensor([BOS, *tgt, EOS])


def batches(
    examples: list[Example], batch_size: int, seed: int, start: int = 0
) -> Iterator[list[Example]]:
    """Batches of sentences of like length, without end, from number start on.

    Each epoch is shuffled and cut into stretches of 50 batches; a stretch is
    sorted by length and cut into batches; the batches are shuffled. What does
    not fill a batch waits for another epoch. Seed and epoch decide the order.
    Raises ValueError for a batch_size that the examples cannot fill.
    """
    if not 1 <= batch_size <= len(examples):
        raise ValueError(
            f"batch_size must lie in 1 .. {len(examples)}, as many as there "
            f"are examples, got {batch_size}"
        )
    per_epoch = len(examples) // batch_size
    epoch, start = divmod(start, per_epoch)
    while True:
        rng = random.Random(f"{seed} {epoch}")
        order = rng.sample(examples, per_epoch * batch_size)
        found = []
        for i in range(0, len(order), 50 * batch_size):
            stretch = order[i : i + 50 * batch_size]
            stretch.sort(key=lambda example: [len(ids) for ids in example])
            for k in range(0, len(stretch), batch_size):
                found.append(stretch[k : k + batch_size])
        rng.shuffle(found)
        yield from found[start:]
        epoch, start = epoch + 1, 0


# --8<-- [end:batches]
# --8<-- [start:processes]
class DistributedContext(NamedTuple):
    """Which of how many processes this is, and what it computes on."""

    rank: int = 0
    count: int = 1
    device: torch.device = torch.device("cpu")


SINGLE_PROCESS = DistributedContext()


@contextmanager
def distributed_context() -> Iterator[DistributedContext]:
    """One process; or all those that torchrun started, joined to a group."""
    gpu = torch.cuda.is_available()
    device = torch.device("cuda" if gpu else "cpu")
    if "RANK" not in os.environ:
        yield DistributedContext(device=device)
        return
    if gpu:
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if gpu else "gloo")
    try:
        yield DistributedContext(dist.get_rank(), dist.get_world_size(), device)
    finally:
        dist.destroy_process_group()


# --8<-- [end:processes]
# --8<-- [start:gradients]
def gradients(
    model: nn.Module,
    batch: list[Example],
    settings: Settings,
    group: DistributedContext,
    stop: bool = False,
) -> tuple[float, bool]:
    """Adds the gradients of the mean loss over all tokens of the batch.

    Each process computes a share of the batch. DDP averages their gradients
    as if all had equally many tokens, so each loss is weighted by its own.
    Returns the mean loss, and whether any of the processes is to stop.
    """
    share = batch[group.rank :: group.count]
    src, tgt = (
        padded(ids).to(group.device) for ids in zip(*share, strict=True)
    )
    # Each token is predicted from the tokens before it.
    inputs, targets = tgt[:, :-1], tgt[:, 1:]
    with torch.autocast(src.device.type, torch.bfloat16, settings.bfloat16):
        logits = model(src, inputs)
    loss = label_smoothed_cross_entropy(
        logits.float(), targets, settings.smoothing, PAD
    )
    tokens = (targets != PAD).sum().item()
    sums = torch.tensor([loss.item() * tokens, tokens, stop], device=src.device)
    if group.count > 1:
        dist.all_reduce(sums)
    total_loss, total_tokens, stops = sums.tolist()
    (loss * (group.count * tokens / total_tokens)).backward()
    return total_loss / total_tokens, stops > 0


# --8<-- [end:gradients]
# --8<-- [start:run]
class Run:
    """A training in progress, which can be saved and taken up again.

    Dropout draws again at each step, from a seed made of the run's seed, the
    step and the process: no state of a generator has to be kept.
    """

    def __init__(
        self,
        translator: Translator,
        pairs: list[Pair],
        settings: Settings,
        group: DistributedContext,
    ):
        if settings.batch_size < group.count:
            raise ValueError(
                f"{group.count} processes cannot share a batch_size of "
                f"{settings.batch_size}: give each a sentence or more"
            )
        self.settings, self.group = settings, group
        self.model = translator.model.to(group.device)
        self.examples = [example_of(translator, pair) for pair in pairs]
        self.optimizer = torch.optim.Adam(  # as in the paper, section 5.3
            self.model.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True
        )
        self.curve: list[dict[str, float]] = []
        self.losses: list[float] = []  # since the last point of the curve
        self.step, self.seconds = 0, 0.0
        tokens = translator.source.tokens, translator.target.tokens
        data = hashlib.sha256(repr((tokens, pairs)).encode()).hexdigest()
        self.about = asdict(settings) | asdict(self.model.config)
        self.about |= {"data": data, "processes": group.count}

    def state(self) -> dict[str, Any]:
        return {
            "about": self.about,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "curve": self.curve,
            "losses": self.losses,
            "step": self.step,
            "seconds": self.seconds,
        }

    def resume(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.curve, self.losses = state["curve"], state["losses"]
        self.step, self.seconds = state["step"], state["seconds"]

    @property
    def rate(self) -> float:
        d_model = self.model.config.d_model
        return learning_rate(self.step, self.settings, d_model)

    def steps(self, asked: Event) -> Iterator[tuple[float, bool]]:
        """The loss of each step, and whether to stop after it."""
        settings, group = self.settings, self.group
        model: nn.Module = self.model
        if settings.compile:
            model.compile(dynamic=True)
        if group.count > 1:
            model = DistributedDataParallel(model)
        order = batches(
            self.examples, settings.batch_size, settings.seed, self.step
        )
        while self.step < settings.steps:
            self.step += 1
            name = f"{settings.seed} {self.step} {group.rank}"
            torch.manual_seed(random.Random(name).getrandbits(32))
            for parameters in self.optimizer.param_groups:
                parameters["lr"] = self.rate
            self.optimizer.zero_grad()
            found = gradients(
                model, next(order), settings, group, asked.is_set()
            )
            self.optimizer.step()
            yield found


# --8<-- [end:run]
# --8<-- [start:ctrl_c]
@contextmanager
def ctrl_c() -> Iterator[Event]:
    """An event that Ctrl-C sets, so that no step is cut in half."""
    asked = Event()
    before = signal.signal(signal.SIGINT, lambda *_: asked.set())
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


# --8<-- [end:ctrl_c]
# --8<-- [start:train]
def show_line(line: str) -> None:
    """Print the line over the one before it."""
    print(f"\r{line}", end="", flush=True)


def train(
    translator: Translator,
    pairs: list[Pair],
    held_out: list[Pair],
    settings: Settings,
    checkpoint: Path | None = None,
    resume: bool = False,
    group: DistributedContext = SINGLE_PROCESS,
    show: Callable[[str], None] = show_line,
) -> list[dict[str, float]]:
    """Train the translator's model on the pairs; returns the curve.

    Each of its points, at most 20, has the step, the mean loss since the point
    before, the rate, the exact match on held_out and the processor's seconds.
    There, and at Ctrl-C, a checkpoint is saved; with resume the training goes
    on from it, to the very weights that it would have reached.
    Raises KeyboardInterrupt after Ctrl-C, ValueError as load_checkpoint.
    """
    run = Run(translator, pairs, settings, group)
    if resume and checkpoint:
        run.resume(load_checkpoint(checkpoint, run.about))
    started = time.process_time() - run.seconds
    first = group.rank == 0
    run.model.train()
    with ctrl_c() as asked:
        for loss, stop in run.steps(asked):
            run.losses.append(loss)
            run.seconds = time.process_time() - started
            due = run.step % math.ceil(settings.steps / 20) == 0
            due = due or run.step == settings.steps
            point = {
                "step": run.step,
                "loss": statistics.fmean(run.losses),
                "rate": run.rate,
                "match": run.curve[-1]["match"] if run.curve else 0.0,
                "seconds": run.seconds,
            }
            if first and due:
                point["match"] = exact_match(translator, held_out)["all"]
                run.curve.append(point)
                run.losses.clear()
            if first and (due or run.step % 10 == 0):
                show(line_of(point, settings.steps))
            if first and (due or stop) and checkpoint:
                save_checkpoint(checkpoint, run.state())
            if stop:
                where = f"stopped after step {run.step}"
                raise KeyboardInterrupt(f"{where}; go on with --resume")
    run.model.eval()
    return run.curve


def line_of(point: dict[str, float], steps: int) -> str:
    return (
        f"step {point['step']}/{steps}  loss {point['loss']:.3f}  "
        f"rate {point['rate']:.5f}  held-out {point['match']:.1%}  "
        f"CPU {point['seconds']:.0f} s "
    )


# --8<-- [end:train]
# --8<-- [start:main]
def run_task(
    name: str, out: Path, resume: bool = False, **changes: Any
) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Train a task's translator and save it in the folder.

    Returns the curve, and the exact match of what the file holds on the test
    part, by kind. The changes are to the task's settings. Errors: as train.
    """
    task = TASKS[name]
    settings = replace(task.settings, **changes)
    pairs, held_out = task.pairs("train"), task.pairs("validation")[:400]
    translator = new_translator(pairs, settings.seed, **task.sizes)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}.safetensors"
    checkpoint = path.with_suffix(".checkpoint")
    with distributed_context() as group:
        curve = train(
            translator, pairs, held_out, settings, checkpoint, resume, group
        )
    if group.rank > 0:
        return [], {}
    save_translator(translator, path, settings.seed)
    checkpoint.unlink()
    return curve, exact_match(load_translator(path), task.pairs("test"))


def main() -> None:
    if any(each.startswith("--pairs") for each in sys.argv):
        importlib.import_module("train_pairs").main()
        return
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", action="store_true", help="go on")
    parser.add_argument("--out", type=Path, default=Path(), metavar="FOLDER")
    parser.add_argument("--bfloat16", action="store_true", help="for a GPU")
    parser.add_argument("--compile", action="store_true", help="for a GPU")
    options = vars(parser.parse_args())
    torch.set_num_threads(1)  # matrices this small gain nothing from more
    try:
        _, match = run_task(options.pop("task"), **options)
    except ValueError as error:
        sys.exit(f"train.py: {error}")
    except KeyboardInterrupt as stopped:
        sys.exit(f"\n{stopped}")
    print()
    for kind, share in match.items():
        print(f"{share:8.2%}  {kind}")


if __name__ == "__main__":
    main()
# --8<-- [end:main]
