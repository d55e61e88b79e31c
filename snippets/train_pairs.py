# --8<-- [start:imports]
"""Training on your own sentence pairs.

    python train_pairs.py pairs.tsv
    python train_pairs.py tatoeba.tsv --columns 2,4
    python train_pairs.py corpus.en corpus.zh
    python train_pairs.py pairs.tsv --resume
    torchrun --nproc-per-node 2 train_pairs.py pairs.tsv --bfloat16

Writes pairs.safetensors (the translator), pairs.subwords.json, pairs.test.tsv
(source, reference and translation of the test set), pairs.curve.tsv and, with
matplotlib, pairs.curve.png; and a checkpoint, also at Ctrl-C. Without --resume
no existing file is overwritten.
"""

import argparse
import hashlib
import io
import math
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from filelock import FileLock, Timeout
from torch import Tensor, nn
from tqdm import tqdm

from batching import Example, example_of, token_batches
from checkpoints import write_whole
from corpus import Pair, Vocabulary
from metrics import evaluate, exp, mean_loss, scores, translate_all
from sentence_pairs import (
    MAX_BYTES,
    Dropped,
    Subwords,
    Text,
    learn_subwords,
    progress,
    read_pairs,
    report,
    split_pairs,
)
from trainer import (
    SINGLE_PROCESS,
    DistributedContext,
    Settings,
    Trainer,
    distributed_context,
    forward_backward,
    learning_rate,
)
from transformer import Transformer, TransformerConfig
from translator import Translator, save_translator

VALIDATION_PAIRS, TEST_PAIRS = 500, 2000  # at most, drawn at random


# --8<-- [end:imports]
# --8<-- [start:settings]
SIZES: dict[str, dict[str, Any]] = {
    "small": {  # about an hour on one core
        "d_model": 128,
        "layers": 2,
        "dropout": 0.2,
        "vocab_size": 4000,
        "batch_size": 2048,
        "steps": 8000,
    },
    "base": {  # for a GPU; on one core a day
        "d_model": 256,
        "layers": 3,
        "dropout": 0.2,
        "vocab_size": 8000,
        "batch_size": 4096,
        "steps": 20_000,
    },
}
MANY_PAIRS = 200_000  # from here on the size is base


@dataclass(frozen=True)
class PairSettings(Settings):
    """As Settings; a batch is measured in tokens.

    The patience is below average, so that the best model is among those
    averaged. Raises ValueError if not, and for a number not above 0.
    """

    steps: int = 8000  # at most
    batch_size: int = 2048  # tokens a side, padding included
    schedule: str = "noam"
    warmup_steps: int = 1000
    vocab_size: int = 4000  # subwords
    clip: float = 1.0  # the largest norm of the gradients
    every: int = 500  # steps from one measurement to the next
    average: int = 5  # so many of the last measured models
    patience: int = 4  # measurements without a better one
    bleu_pairs: int = 100  # validation pairs translated at a measurement

    def __post_init__(self) -> None:
        names = "steps batch_size warmup_steps clip every average patience peak"
        for name in names.split():
            value = getattr(self, name)
            if not value > 0 or (name == "peak" and math.isinf(value)):
                raise ValueError(f"{name} must be above 0, got {value}")
        if not -(2**63) <= self.seed < 2**63:
            raise ValueError(f"seed must have 64 bits, got {self.seed}")
        if not 0 <= self.smoothing < 1:
            raise ValueError(f"smoothing must be in 0 .. 1: {self.smoothing}")
        learning_rate(1, self, 64)  # the schedule and its numbers
        if self.bleu_pairs < 0:
            raise ValueError(f"bleu_pairs must be 0 or more: {self.bleu_pairs}")
        if self.patience >= self.average:
            raise ValueError(
                "patience must be below average, "
                f"got {self.patience} and {self.average}"
            )


def model_sizes(
    d_model: int, layers: int, dropout: float, nhead: int | None = None
) -> dict[str, Any]:
    """Sizes of a TransformerConfig, in the paper's proportions.

    A head has 64 numbers, or more if d_model is not a multiple of 64.
    """
    for name, value in ("d_model", d_model), ("layers", layers):
        if value < 1:
            raise ValueError(f"{name} must be above 0, got {value}")
    if layers > 100:
        raise ValueError(f"layers must be 100 or fewer, got {layers}")
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout must be 0 or more and below 1: {dropout}")
    heads = range(max(1, d_model // 64), 0, -1)
    return {
        "d_model": d_model,
        "nhead": next(h for h in heads if d_model % h == 0)
        if nhead is None
        else nhead,
        "num_encoder_layers": layers,
        "num_decoder_layers": layers,
        "dim_feedforward": 4 * d_model,
        "dropout": dropout,
        "norm_first": True,
    }


# --8<-- [end:settings]
# --8<-- [start:trainer]
class PairTrainer(Trainer):
    """A Trainer with batches of tokens, clipping, early stopping, averaging.

    Each point of its curve has the held-out loss in nats, the largest norm of
    the gradients and the number of clipped steps instead of the exact match.
    """

    def __init__(
        self,
        translator: Translator,
        pairs: list[Pair],
        held_out: list[Pair],
        settings: PairSettings,
        group: DistributedContext = SINGLE_PROCESS,
        subwords: Subwords | None = None,
    ):
        super().__init__(translator, pairs, held_out, settings, group)
        self.pair_settings, self.every = settings, settings.every
        self.subwords = subwords  # for the BLEU of a measurement
        self.recent: list[dict[str, Tensor]] = []  # the last measured models
        self.norms: list[float] = []  # since the last point of the curve
        self.started, self.first_step = time.monotonic(), 0
        self.curve_path: Path | None = None
        # A training may go on for longer; linear has fallen to 0 by then.
        longer = ("steps",) if settings.schedule == "noam" else ()
        self.changeable = (*longer, "patience", "bleu_pairs")

    def state_dict(self) -> dict[str, Any]:
        own = {"recent": self.recent, "norms": self.norms}
        return super().state_dict() | own

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.recent, self.norms = state["recent"], state["norms"]
        self.first_step = self.step

    def remaining_batches(self) -> Iterator[list[Example]]:
        return token_batches(
            self.examples,
            self.settings.batch_size,
            self.settings.seed,
            self.step,
            self.group.world_size,
        )

    def clip_gradients(self) -> None:
        """Raises ValueError for gradients that are not finite."""
        parameters, clip = self.model.parameters(), self.pair_settings.clip
        norm = nn.utils.clip_grad_norm_(parameters, clip).item()
        if not math.isfinite(norm):
            raise ValueError(
                f"the gradients of step {self.step} have the norm {norm}; "
                "try more warmup_steps or no bfloat16"
            )
        self.norms.append(norm)

    @property
    def is_finished(self) -> bool:
        """After the last step, or if the held-out loss no longer falls."""
        losses = [point["held_out"] for point in self.curve]
        since = losses[::-1].index(min(losses)) if losses else 0
        return since >= self.pair_settings.patience or super().is_finished

    @property
    def clipped(self) -> int:
        """The clipped steps since the last point of the curve."""
        return sum(norm > self.pair_settings.clip for norm in self.norms)

    def held_out_loss(self) -> float:
        """In nats a token; that of the first process, in all of them."""
        examples = [example_of(self.translator, p) for p in self.held_out]
        loss = mean_loss(self.model, examples, self.settings.batch_size)
        value = torch.tensor(loss, device=self.group.device)
        if self.group.world_size > 1:
            dist.broadcast(value, 0)
        return value.item()

    def validate(self) -> dict[str, float]:
        return {
            "held_out": self.held_out_loss(),
            "norm": max(self.norms),
            "clipped": self.clipped,
        } | self.held_out_scores()

    def held_out_scores(self) -> dict[str, float]:
        """BLEU of greedy translations, if sacreBLEU is installed."""
        pairs = self.held_out[: self.pair_settings.bleu_pairs]
        if not pairs or not self.subwords or self.group.rank > 0:
            return {}
        sources = [pair.source for pair in pairs]
        found = translate_all(self.translator, sources, beam_size=1)
        texts = [*map(self.subwords.join, found)]
        references = [self.subwords.join(pair.target) for pair in pairs]
        try:
            named = scores(texts, references)
        except ImportError:
            return {}
        return {"bleu": next(iter(named.values()))}

    def measure(self) -> None:
        """Add a point to the curve, and the model to the recent ones."""
        super().measure()
        self.norms.clear()
        if self.curve_path and self.group.rank == 0:
            write_curve(self.curve_path, self.curve)
        weights = self.model.state_dict().items()
        self.recent.append({name: w.cpu().clone() for name, w in weights})
        del self.recent[: -self.pair_settings.average]

    def quality(self) -> str:
        point = self.curve[-1] if self.curve else {}
        perplexity = number(exp(point["held_out"])) if point else "?"
        bleu = f"  BLEU {point['bleu']:.1f}" if "bleu" in point else ""
        clipped = self.clipped + sum(point["clipped"] for point in self.curve)
        return f"perplexity {perplexity}{bleu}  clipped {clipped}"

    def line(self) -> str:
        """With the time left; a measurement keeps its line."""
        seconds = time.monotonic() - self.started
        per_step = seconds / max(1, self.step - self.first_step)
        left = per_step * (self.settings.steps - self.step)
        line = f"{super().line()} at most {duration(left)} left"
        return line if self.losses else f"{line}\n"

    def seconds_per_step(self) -> float:
        """Of the first batch, computed twice without a step."""
        batch = next(self.remaining_batches())
        for _ in range(2):
            started = time.monotonic()
            forward_backward(self.model, batch, self.settings, self.group)
        self.optimizer.zero_grad()
        return time.monotonic() - started

    def finish(self) -> None:
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
        super().finish()


# --8<-- [end:trainer]
# --8<-- [start:curve]
def duration(seconds: float) -> str:
    if seconds < 100:
        return f"{math.ceil(seconds)} s"
    minutes = math.ceil(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def number(value: float) -> str:
    return f"{value:.2f}" if value < 1e6 else f"{value:.1e}"


def show_line(line: str) -> None:
    """In a terminal, over the line before; in a file, only what is kept.

    A line is kept if it ends with a line end.
    """
    kept = line.endswith("\n")
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns - 1
        text = line.rstrip() if kept else line[:width]
        print(f"\r{text:<{width}}", end="\n" if kept else "", flush=True)
    elif kept:
        print(line.rstrip(), flush=True)


def write_curve(path: Path, curve: list[dict[str, float]]) -> None:
    """A line for each measurement; with matplotlib also a picture."""
    lines = ["step\ttraining loss\tvalidation loss\tperplexity\tBLEU\n"]
    for point in curve:
        bleu = f"{point['bleu']:.2f}" if "bleu" in point else ""
        lines.append(
            f"{point['step']}\t{point['loss']:.4f}\t{point['held_out']:.4f}\t"
            f"{number(exp(point['held_out']))}\t{bleu}\n"
        )
    write_whole(path, "".join(lines).encode())
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(6.4, 7.2), layout="constrained")
    loss, perplexity, bleu = figure.subplots(3, 1, sharex=True)
    steps = [point["step"] for point in curve]
    held_out = [point["held_out"] for point in curve]
    loss.plot(steps, [point["loss"] for point in curve], label="training")
    loss.plot(steps, held_out, label="validation")
    loss.set_ylabel("loss (nats per token)")
    loss.legend()
    perplexity.plot(steps, [exp(value) for value in held_out])
    perplexity.set(yscale="log", ylabel="validation perplexity")
    bleu.plot(steps, [point.get("bleu", math.nan) for point in curve])
    bleu.set(xlabel="step", ylabel="validation BLEU")
    picture = io.BytesIO()
    figure.savefig(picture)
    write_whole(path.with_suffix(".png"), picture.getvalue())


# --8<-- [end:curve]
# --8<-- [start:main]
class Prepared(NamedTuple):
    """The data of a training by part, and its translator, still untrained."""

    texts: dict[str, list[Text]]
    subwords: Subwords
    pairs: dict[str, list[Pair]]
    translator: Translator


def prepare(
    parts: dict[str, list[Text]], settings: PairSettings, sizes: dict[str, Any]
) -> Prepared:
    """Raises ValueError as learn_subwords and the model."""
    subwords = learn_subwords(parts["train"], settings.vocab_size)
    pairs = {
        name: [*map(subwords.pair, progress(part, f"splitting {name}"))]
        for name, part in parts.items()
    }
    vocabulary = Vocabulary(subwords.tokens)  # of both languages
    size = len(vocabulary)
    torch.manual_seed(settings.seed)
    config = TransformerConfig(size, size, max_len=MAX_BYTES + 2, **sizes)
    translator = Translator(Transformer(config), vocabulary, vocabulary)
    return Prepared(parts, subwords, pairs, translator)


def sample(items: list[Any], count: int, seed: int) -> list[Any]:
    """At most so many of the items, drawn at random, in their order."""
    found = range(len(items))
    if len(items) > count:
        found = sorted(random.Random(seed).sample(found, count))
    return [items[i] for i in found]


def name_of(path: Path) -> str:
    """pairs for pairs.tsv, pairs.tsv.gz and pairs.en."""
    if path.suffix in (".gz", ".bz2", ".xz", ".zip"):
        path = path.with_suffix("")
    return path.stem


class Files(NamedTuple):
    """What a training writes."""

    checkpoint: Path
    subwords: Path
    table: Path
    translator: Path
    curve: Path

    @classmethod
    def of(cls, out: Path, name: str) -> "Files":
        endings = "checkpoint subwords.json test.tsv safetensors curve.tsv"
        return cls(*(out / f"{name}.{each}" for each in endings.split()))

    @property
    def lock(self) -> Path:
        return self.checkpoint.with_suffix(".lock")

    def check(self, resume: bool) -> None:
        """Raises ValueError if a training would lose what is there."""
        existing = [str(path) for path in self if path.exists()]
        if resume and not self.checkpoint.exists():
            raise ValueError(
                f"there is no {self.checkpoint}: begin without --resume"
            )
        if existing and not resume:
            raise ValueError(
                f"{', '.join(existing)} exists; "
                + (
                    "continue with --resume"
                    if self.checkpoint.exists()
                    else "delete it"
                )
                + ", or choose another folder with --out"
            )


def check_space(out: Path, trainer: PairTrainer, resume: bool) -> None:
    """Raises ValueError if the disk has no room for the checkpoints.

    A checkpoint has the weights, Adam's two averages and the models whose mean
    is taken; the old one is deleted after the new one is written.
    """
    parameters = sum(p.numel() for p in trainer.model.parameters())
    needed = 4 * parameters * (3 + trainer.pair_settings.average)
    needed *= 1 if resume else 2
    free = shutil.disk_usage(out).free
    if free < needed:
        raise ValueError(
            f"{out} has {free / 1e6:.0f} MB free; this training needs "
            f"{needed / 1e6:.0f} MB: choose another folder with --out"
        )


def shorten(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"


def describe(
    data: Prepared, dropped: Dropped, trainer: PairTrainer, size: str
) -> str:
    """What is trained on what, and how long it may take."""
    counts = {name: len(part) for name, part in data.texts.items()}
    config, settings = trainer.model.config, trainer.pair_settings
    parameters = sum(p.numel() for p in trainer.model.parameters())
    device = trainer.group.device.type
    if device == "cpu" and torch.backends.mps.is_available():
        device = f"{device} (not mps: its results are not tested)"
    parts = ", ".join(f"{count} {name}" for name, count in counts.items())
    seconds = trainer.seconds_per_step() * (settings.steps - trainer.step)
    example = data.texts["train"][0]
    lines = [
        f"pairs: {sum(counts.values())} ({parts})",
        *([report(dropped)] if dropped else []),
        f"the first: {shorten(example.source)} -> {shorten(example.target)}",
        f"subwords: {len(data.subwords.tokens)}",
        f"size {size}: d_model {config.d_model}, nhead {config.nhead}, "
        f"layers {config.num_encoder_layers} + {config.num_decoder_layers}, "
        f"parameters {parameters:,}",
        f"at most {settings.steps} steps of {settings.batch_size} tokens "
        f"on {device}: about {duration(seconds)}",
    ]
    return "\n".join(lines)


@contextmanager
def only_run(
    files: Files, group: DistributedContext, resume: bool
) -> Iterator[None]:
    """Raises ValueError while another training writes the same files."""
    if group.rank > 0:
        yield
        return
    try:
        with FileLock(files.lock, timeout=0):
            files.check(resume)  # another training may just have ended
            try:
                yield
            finally:
                files.lock.unlink(missing_ok=True)
    except Timeout as error:
        raise ValueError(
            f"another training is writing {files.checkpoint}; wait for it, "
            "or choose another folder with --out"
        ) from error


def save_results(
    data: Prepared, settings: PairSettings, files: Files
) -> dict[str, float]:
    """Translate the test set; write the translator and the translations."""
    tested = sample(data.texts["test"], TEST_PAIRS, settings.seed)
    with tqdm(desc="translating", total=len(tested), disable=None) as bar:

        def show(count: int) -> None:
            bar.update(count - bar.n)

        result, table = evaluate(
            data.translator,
            data.subwords,
            tested,
            settings.batch_size,
            show,
        )
    subwords = data.subwords.tokenizer.to_str().encode()
    write_whole(files.subwords, subwords)
    write_whole(files.table, table.encode())
    key = hashlib.sha256(subwords).hexdigest()
    save_translator(
        data.translator, files.translator, settings.seed, subwords=key
    )
    return result


def run_pairs(
    paths: Sequence[Path],
    out: Path = Path(),
    resume: bool = False,
    columns: str | None = None,
    encoding: str | None = None,
    size: str | None = None,
    **options: Any,
) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Train on the pairs of a file or of two parallel ones; save and test.

    Returns the curve, and perplexity, BLEU and chrF on the test set. The
    options replace those of the size, which the number of pairs chooses.
    Raises ValueError for bad input and existing results, before anything is
    written. Other errors: as PairTrainer.
    """
    files = Files.of(out, name_of(paths[0]))
    if files.lock.exists():  # by a training that runs, or that was killed
        process = DistributedContext(int(os.environ.get("RANK", 0)))
        with only_run(files, process, resume):
            pass
    files.check(resume)
    texts, dropped = read_pairs(*paths, columns=columns, encoding=encoding)
    try:
        parts = split_pairs(texts)
    except ValueError as error:
        found = [f"{paths[0]}: {error}", *report(dropped).splitlines()]
        raise ValueError("; ".join(found)) from error
    size = size or ("base" if len(texts) >= MANY_PAIRS else "small")
    chosen = SIZES[size] | options
    names = {field.name for field in fields(PairSettings)}
    settings = PairSettings(**{k: v for k, v in chosen.items() if k in names})
    sizes = {k: v for k, v in chosen.items() if k not in names}
    if "peak" in options and settings.schedule != "linear":
        raise ValueError("peak is for the schedule linear: --schedule linear")
    data = prepare(parts, settings, model_sizes(**sizes))
    held_out = sample(data.pairs["validation"], VALIDATION_PAIRS, settings.seed)
    out.mkdir(parents=True, exist_ok=True)
    with distributed_context() as group, only_run(files, group, resume):
        trainer = PairTrainer(
            data.translator,
            data.pairs["train"],
            held_out,
            settings,
            group,
            data.subwords,
        )
        trainer.curve_path = files.curve
        check_space(out, trainer, resume)
        text = describe(data, dropped, trainer, size)
        if group.rank == 0:
            print(text, flush=True)
        curve = trainer.train(files.checkpoint, resume, show_line)
        if trainer.step == trainer.first_step and files.translator.exists():
            raise ValueError(
                f"the training has finished after step {trainer.step}; "
                "a larger --steps or --patience continues it"
            )
        guessing = math.log(len(data.subwords.tokens))
        if group.rank == 0 and not curve[-1]["held_out"] < guessing:
            print(
                f"\nthe loss is above {guessing:.2f}, that of guessing: "
                "try a lower peak, or more warmup_steps"
            )
        if group.rank == 0:
            return curve, save_results(data, settings, files)
    return [], {}


def stop(number: int, frame: FrameType | None) -> None:
    """As Ctrl-C, also in a job that a script started with & and ignores it."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        handler = signal.default_int_handler
    handler(number, frame)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "paths",
        type=Path,
        metavar="FILE",
        nargs="+",
        help="a source, a tab and its translation on each line; also CSV, "
        "JSON lines, TMX, PO, XLIFF; or two files with a sentence on each line",
    )
    parser.add_argument("--columns", help="of source and target: 2,4 or en,zh")
    parser.add_argument("--encoding", help="if it is not Unicode: gb18030, …")
    parser.add_argument("--out", type=Path, default=Path(), metavar="FOLDER")
    parser.add_argument("--resume", action="store_true", help="continue")
    parser.add_argument(
        "--size",
        choices=SIZES,
        help=f"small below {MANY_PAIRS} pairs; replaced by these options:",
    )

    def add(name: str, help: str, kind: type = int) -> None:
        sizes = [f"{size[name]}" for size in SIZES.values() if name in size]
        if hasattr(PairSettings, name) and not sizes:
            kind = type(getattr(PairSettings, name))
            sizes = [f"{getattr(PairSettings, name)}"]
        flag, shown = f"--{name.replace('_', '-')}", ", ".join(sizes)
        text = f"{help} ({shown})" if shown else help
        parser.add_argument(flag, type=kind, metavar="…", help=text)

    add("d_model", help="numbers of a token's vector")
    add("layers", help="of each stack")
    add("nhead", help="heads; d_model / 64")
    add("dropout", help="in training", kind=float)
    add("vocab_size", help="subwords of both languages")
    add("batch_size", help="tokens of a batch, a side")
    add("steps", help="the most steps")
    add("schedule", help="noam or linear")
    add("peak", help="largest learning rate of linear")
    add("warmup_steps", help="steps up to the largest learning rate")
    add("smoothing", help="label smoothing")
    add("seed", help="of the weights and of the order")
    add("clip", help="largest norm of the gradients, or inf")
    add("every", help="steps from one measurement to the next")
    add("average", help="how many of the last models are averaged")
    add("patience", help="measurements without a better model until the end")
    add("bleu_pairs", help="validation pairs translated at each measurement")
    parser.add_argument("--bfloat16", action="store_true", help="for a GPU")
    parser.add_argument("--compile", action="store_true", help="for a GPU")
    given = vars(parser.parse_args(arguments)).items()
    options = {name: value for name, value in given if value is not None}
    checkpoint = Files.of(
        options["out"], name_of(options["paths"][0])
    ).checkpoint
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # in any encoding
    if "RANK" not in os.environ:  # as Ctrl-C
        signal.signal(signal.SIGTERM, stop)

    def hint() -> str:
        return "; continue with --resume" if os.path.exists(checkpoint) else ""

    try:
        _, result = run_pairs(**options)
    except ValueError as error:
        sys.exit(f"\ntrain_pairs.py: {error}".lstrip("\n"))
    except OSError as error:
        where = error.filename or "the output"
        sys.exit(f"\ntrain_pairs.py: {where}: {error.strerror}{hint()}")
    except (RuntimeError, MemoryError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        sys.exit(
            "\ntrain_pairs.py: not enough memory; choose a smaller d_model, "
            "batch_size or vocab_size, or fewer layers"
        )
    except KeyboardInterrupt as stopped:
        text = str(stopped) or f"stopped{hint() or ', nothing was written'}"
        raise SystemExit(f"\ntrain_pairs.py: {text}") from stopped
    print()
    for name, score in result.items():
        print(f"{number(score):>8}  {name}")


if __name__ == "__main__":
    main()
# --8<-- [end:main]
