# --8<-- [start:imports]
"""The loss, the learning rate and the loop of a training."""

import hashlib
import math
import os
import random
import signal
import statistics
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from batching import Example, batches, example_of
from checkpoints import load_checkpoint, save_checkpoint
from corpus import Pair
from translator import PAD, Translator, exact_match, padded


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


# --8<-- [end:settings]
# --8<-- [start:processes]
class DistributedContext(NamedTuple):
    """Which of how many processes this is, and what it computes on."""

    rank: int = 0
    world_size: int = 1
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
# --8<-- [start:forward_backward]
def forward_backward(
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
    share = batch[group.rank :: group.world_size]
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
    if group.world_size > 1:
        dist.all_reduce(sums)
    total_loss, total_tokens, stops = sums.tolist()
    (loss * (group.world_size * tokens / total_tokens)).backward()
    return total_loss / total_tokens, stops > 0


# --8<-- [end:forward_backward]
# --8<-- [start:ctrl_c]
@contextmanager
def ctrl_c() -> Iterator[Event]:
    """An event that Ctrl-C sets, so that no step is cut in half."""
    interrupted = Event()
    before = signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)


# --8<-- [end:ctrl_c]
# --8<-- [start:trainer]
def show_line(line: str) -> None:
    """Print the line over the one before it."""
    print(f"\r{line}", end="", flush=True)


class Trainer:
    """A training in progress, which can be saved and taken up again.

    Dropout draws again at each step, from a seed made of the run's seed, the
    step and the process: no state of a generator has to be kept.
    """

    def __init__(
        self,
        translator: Translator,
        pairs: list[Pair],
        held_out: list[Pair],
        settings: Settings,
        group: DistributedContext = SINGLE_PROCESS,
    ):
        if settings.batch_size < group.world_size:
            raise ValueError(
                f"{group.world_size} processes cannot share a batch_size of "
                f"{settings.batch_size}: give each a sentence or more"
            )
        self.translator, self.held_out = translator, held_out
        self.settings, self.group = settings, group
        self.model = translator.model.to(group.device)
        self.examples = [example_of(translator, pair) for pair in pairs]
        self.optimizer = torch.optim.Adam(  # as in the paper, section 5.3
            self.model.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True
        )
        self.every = math.ceil(settings.steps / 20)  # steps between points
        self.curve: list[dict[str, float]] = []
        self.losses: list[float] = []  # since the last point of the curve
        self.step, self.seconds = 0, 0.0
        tokens = translator.source.tokens, translator.target.tokens
        data = repr((tokens, pairs, held_out)).encode()
        self.about = asdict(settings) | asdict(self.model.config)
        self.about["data"] = hashlib.sha256(data).hexdigest()
        self.about["processes"] = group.world_size

    def state_dict(self) -> dict[str, Any]:
        return {
            "about": self.about,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "curve": self.curve,
            "losses": self.losses,
            "step": self.step,
            "seconds": self.seconds,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.curve, self.losses = state["curve"], state["losses"]
        self.step, self.seconds = state["step"], state["seconds"]

    def train(
        self,
        checkpoint: Path | None = None,
        resume: bool = False,
        show: Callable[[str], None] = show_line,
    ) -> list[dict[str, float]]:
        """Train the model on the pairs; returns the curve.

        Each of its points, at most 20, has the step, the mean loss since the
        point before, the learning rate, the exact match on held_out and the
        processor's seconds. There, and at Ctrl-C, a checkpoint is saved; with
        resume the training goes on from it, to the very weights that it would
        have reached.
        Raises KeyboardInterrupt after Ctrl-C, ValueError as load_checkpoint.
        """
        if resume and checkpoint:
            changeable = self.changeable
            state = load_checkpoint(checkpoint, self.about, changeable)
            self.load_state_dict(state)
        started = time.process_time() - self.seconds
        first, steps = self.group.rank == 0, self.settings.steps
        self.model.train()
        with ctrl_c() as interrupted:
            for loss, stop in self.steps(interrupted):
                self.losses.append(loss)
                self.seconds = time.process_time() - started
                due = self.step % self.every == 0 or self.step == steps
                if due:
                    self.measure()
                if first and (due or self.step % 10 == 0):
                    show(self.line())
                if first and (due or stop) and checkpoint:
                    save_checkpoint(checkpoint, self.state_dict())
                if stop:
                    where = f"stopped after step {self.step}"
                    raise KeyboardInterrupt(f"{where}; go on with --resume")
        self.finish()
        return self.curve

    def steps(self, interrupted: Event) -> Iterator[tuple[float, bool]]:
        """The loss of each step, and whether to stop after it."""
        model: nn.Module = self.model
        if self.settings.compile:
            model.compile(dynamic=True)
        if self.group.world_size > 1:
            model = DistributedDataParallel(model)
        batches = self.remaining_batches()
        while not self.is_finished:
            self.step += 1
            name = f"{self.settings.seed} {self.step} {self.group.rank}"
            torch.manual_seed(random.Random(name).getrandbits(32))
            for parameters in self.optimizer.param_groups:
                parameters["lr"] = self.rate
            self.optimizer.zero_grad()
            loss, stop = forward_backward(
                model,
                next(batches),
                self.settings,
                self.group,
                interrupted.is_set(),
            )
            self.clip_gradients()
            self.optimizer.step()
            yield loss, stop

    @property
    def rate(self) -> float:
        d_model = self.model.config.d_model
        return learning_rate(self.step, self.settings, d_model)

    def measure(self) -> None:
        """Add a point to the curve."""
        point = {
            "step": self.step,
            "loss": statistics.fmean(self.losses),
            "rate": self.rate,
        }
        self.curve.append(point | self.validate() | {"seconds": self.seconds})
        self.losses.clear()

    def line(self) -> str:
        losses = self.losses or [self.curve[-1]["loss"]]
        return (
            f"step {self.step}/{self.settings.steps}  "
            f"loss {statistics.fmean(losses):.3f}  rate {self.rate:.5f}  "
            f"{self.quality()}  CPU {self.seconds:.0f} s "
        )

    # What a subclass may do in another way

    changeable: Collection[str] = ()  # settings that --resume may change

    def remaining_batches(self) -> Iterator[list[Example]]:
        """Batches from the current step on, without end."""
        settings = self.settings
        return batches(
            self.examples, settings.batch_size, settings.seed, self.step
        )

    def clip_gradients(self) -> None:
        """Not here: the paper doesn't mention clipping."""

    @property
    def is_finished(self) -> bool:
        return self.step >= self.settings.steps

    def validate(self) -> dict[str, float]:
        """The exact match on the held-out pairs."""
        return {"match": exact_match(self.translator, self.held_out)["all"]}

    def quality(self) -> str:
        """What validate found at the last point, as text."""
        return f"held-out {self.curve[-1]['match'] if self.curve else 0:.1%}"

    def finish(self) -> None:
        self.model.eval()


# --8<-- [end:trainer]
