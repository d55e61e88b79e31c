# --8<-- [start:imports]
"""A training on batches of tokens that clips, stops early and averages."""

import hashlib
import math
import random
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Event
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from corpus import Pair
from metrics import mean_loss
from real_text import token_batches
from train import DistributedContext, Run, Settings, example_of, gradients
from translator import Translator


# --8<-- [end:imports]
# --8<-- [start:settings]
@dataclass(frozen=True)
class PairSettings(Settings):
    """As Settings; a batch is measured in tokens.

    The patience is below average, so that the best model is among those
    averaged. Raises ValueError if not, and for a number not above 0.
    """

    steps: int = 20_000  # at most
    batch_size: int = 4096  # tokens a side, padding included
    schedule: str = "noam"
    warmup_steps: int = 1000
    vocab_size: int = 8000  # subwords
    clip: float = 1.0  # the largest norm of the gradients
    every: int = 500  # steps from one measurement to the next
    average: int = 5  # so many of the last measured models
    patience: int = 4  # measurements without a better one

    def __post_init__(self) -> None:
        names = "steps batch_size warmup_steps clip every average patience"
        for name in names.split():
            value = getattr(self, name)
            if not value > 0:
                raise ValueError(f"{name} must be above 0, got {value}")
        if self.patience >= self.average:
            raise ValueError(
                "patience must be below average, "
                f"got {self.patience} and {self.average}"
            )


SIZES = {
    "d_model": 256,
    "nhead": 4,
    "num_encoder_layers": 3,
    "num_decoder_layers": 3,
    "dim_feedforward": 1024,
    "dropout": 0.2,
    "norm_first": True,
}


# --8<-- [end:settings]
# --8<-- [start:run]
class PairRun(Run):
    """A Run with clipped gradients, early stopping and an averaged model."""

    def __init__(
        self,
        translator: Translator,
        pairs: list[Pair],
        held_out: list[Pair],
        settings: PairSettings,
        group: DistributedContext,
    ):
        super().__init__(translator, pairs, settings, group)
        self.pair_settings = settings
        self.held_out = [example_of(translator, pair) for pair in held_out]
        held_out_hash = hashlib.sha256(repr(held_out).encode()).hexdigest()
        self.about |= {"held_out": held_out_hash}
        self.recent: list[dict[str, Tensor]] = []  # the last measured models
        self.norms: list[float] = []  # since the last point of the curve

    def state(self) -> dict[str, Any]:
        own = {"recent": self.recent, "norms": self.norms}
        return super().state() | own

    def resume(self, state: dict[str, Any]) -> None:
        super().resume(state)
        self.recent, self.norms = state["recent"], state["norms"]

    @property
    def is_finished(self) -> bool:
        """After the last step, or if the held-out loss no longer falls."""
        losses = [point["held_out"] for point in self.curve]
        since = losses[::-1].index(min(losses)) if losses else 0
        patience, steps = self.pair_settings.patience, self.settings.steps
        return since >= patience or self.step >= steps

    def steps(self, asked: Event) -> Iterator[tuple[float, bool]]:
        """The loss of each step, and whether to stop after it.

        Raises ValueError for gradients that are not finite.
        """
        settings, group = self.pair_settings, self.group
        model: nn.Module = self.model
        if settings.compile:
            model.compile(dynamic=True)
        if group.count > 1:
            model = DistributedDataParallel(model)
        batches = token_batches(
            self.examples,
            settings.batch_size,
            settings.seed,
            self.step,
            group.count,
        )
        while not self.is_finished:
            self.step += 1
            name = f"{settings.seed} {self.step} {group.rank}"
            torch.manual_seed(random.Random(name).getrandbits(32))
            for parameters in self.optimizer.param_groups:
                parameters["lr"] = self.rate
            self.optimizer.zero_grad()
            result = gradients(
                model, next(batches), settings, group, asked.is_set()
            )
            norm = nn.utils.clip_grad_norm_(
                self.model.parameters(), settings.clip
            ).item()
            if not math.isfinite(norm):
                raise ValueError(
                    f"the gradients of step {self.step} have the norm {norm}; "
                    "try more warmup_steps or no bfloat16"
                )
            self.norms.append(norm)
            self.optimizer.step()
            yield result

    @property
    def clipped(self) -> int:
        """The clipped steps since the last point of the curve."""
        return sum(norm > self.pair_settings.clip for norm in self.norms)

    def held_out_loss(self) -> float:
        """In nats a token; that of the first process, in all of them."""
        loss = mean_loss(self.model, self.held_out, self.settings.batch_size)
        value = torch.tensor(loss, device=self.group.device)
        if self.group.count > 1:
            dist.broadcast(value, 0)
        return value.item()

    def measure(self) -> None:
        """Add a point to the curve, and the model to the recent ones."""
        point = {
            "step": self.step,
            "loss": statistics.fmean(self.losses),
            "rate": self.rate,
            "held_out": self.held_out_loss(),
            "norm": max(self.norms),
            "clipped": self.clipped,
            "seconds": self.seconds,
        }
        self.curve.append(point)
        self.losses.clear()
        self.norms.clear()
        weights = self.model.state_dict().items()
        self.recent.append({name: w.cpu().clone() for name, w in weights})
        del self.recent[: -self.pair_settings.average]

    def average(self) -> None:
        """Replace the model by the mean of the recent ones.

        If one of these has a smaller held-out loss than the mean, by that.
        Source: Vaswani et al. 2017, section 6.1.
        """
        losses = [point["held_out"] for point in self.curve]
        losses = losses[-len(self.recent) :]
        mean = {
            name: sum(weights[name] for weights in self.recent) / len(losses)
            for name in self.recent[0]
        }
        self.model.load_state_dict(mean)
        if min(losses) < self.held_out_loss():
            best = self.recent[losses.index(min(losses))]
            self.model.load_state_dict(best)


# --8<-- [end:run]
