# --8<-- [start:imports]
"""Training on your own sentence pairs, from a file of source, tab, target.

    python train_pairs.py pairs.tsv
    python train_pairs.py pairs.tsv --resume
    torchrun --nproc-per-node 2 train_pairs.py pairs.tsv --bfloat16

Writes pairs.safetensors (the translator), pairs.subwords.json and
pairs.test.tsv (source, reference and translation of the test set); and a
checkpoint, also at Ctrl-C. Without --resume no existing file is overwritten.
"""

import argparse
import math
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn

from batching import Example, example_of, token_batches
from checkpoints import write_whole
from corpus import Pair, Vocabulary
from metrics import evaluate, mean_loss
from sentence_pairs import (
    MAX_BYTES,
    Dropped,
    Subwords,
    Text,
    learn_subwords,
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
)
from transformer import Transformer, TransformerConfig
from translator import Translator, save_translator

VALIDATION_PAIRS, TEST_PAIRS = 500, 2000  # at most, drawn at random


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


def model_sizes(d_model: int, layers: int, dropout: float) -> dict[str, Any]:
    """Sizes of a TransformerConfig, in the paper's proportions."""
    return {
        "d_model": d_model,
        "nhead": max(1, d_model // 64),
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
    ):
        super().__init__(translator, pairs, held_out, settings, group)
        self.pair_settings, self.every = settings, settings.every
        self.recent: list[dict[str, Tensor]] = []  # the last measured models
        self.norms: list[float] = []  # since the last point of the curve

    def state_dict(self) -> dict[str, Any]:
        own = {"recent": self.recent, "norms": self.norms}
        return super().state_dict() | own

    def load_state_dict(self, state: dict[str, Any]) -> None:
        super().load_state_dict(state)
        self.recent, self.norms = state["recent"], state["norms"]

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
        }

    def measure(self) -> None:
        """Add a point to the curve, and the model to the recent ones."""
        super().measure()
        self.norms.clear()
        weights = self.model.state_dict().items()
        self.recent.append({name: w.cpu().clone() for name, w in weights})
        del self.recent[: -self.pair_settings.average]

    def quality(self) -> str:
        perplexity = "?"
        if self.curve:
            perplexity = f"{math.exp(self.curve[-1]['held_out']):.2f}"
        clipped = self.clipped + sum(point["clipped"] for point in self.curve)
        return f"perplexity {perplexity}  clipped {clipped}"

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
# --8<-- [start:main]
class Prepared(NamedTuple):
    """The data of a training by part, and its translator, still untrained."""

    texts: dict[str, list[Text]]
    dropped: Dropped
    subwords: Subwords
    pairs: dict[str, list[Pair]]
    translator: Translator


def prepare(
    file: Path, settings: PairSettings, sizes: dict[str, Any]
) -> Prepared:
    """Raises ValueError for bad input, as read_pairs and learn_subwords."""
    found, dropped = read_pairs(file)
    texts = split_pairs(found)
    subwords = learn_subwords(texts["train"], settings.vocab_size)
    pairs = {name: [*map(subwords.pair, part)] for name, part in texts.items()}
    vocabulary = Vocabulary(subwords.tokens)  # of both languages
    size = len(vocabulary)
    torch.manual_seed(settings.seed)
    config = TransformerConfig(size, size, max_len=MAX_BYTES + 2, **sizes)
    translator = Translator(Transformer(config), vocabulary, vocabulary)
    return Prepared(texts, dropped, subwords, pairs, translator)


def sample(items: list[Any], count: int, seed: int) -> list[Any]:
    """At most so many of the items, drawn at random, in their order."""
    found = range(len(items))
    if len(items) > count:
        found = sorted(random.Random(seed).sample(found, count))
    return [items[i] for i in found]


def run_pairs(
    file: Path,
    out: Path,
    sizes: dict[str, Any],
    resume: bool = False,
    **changes: Any,
) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Train on a file's pairs; save and test the translator.

    Returns the curve, and perplexity, BLEU and chrF on the test set. The
    changes are to the settings. Raises ValueError for bad input and existing
    results, before anything is written. Other errors: as PairTrainer.
    """
    settings = PairSettings(**changes)
    endings = "checkpoint", "subwords.json", "test.tsv", "safetensors"
    paths = [out / f"{file.stem}.{ending}" for ending in endings]
    existing = [str(path) for path in paths if path.exists()]
    if existing and not resume:
        names = ", ".join(existing)
        if paths[0].exists():
            raise ValueError(
                f"{names} exists; continue with --resume, "
                "or choose another folder with --out"
            )
        raise ValueError(
            f"{names} exists; delete it, or choose another folder with --out"
        )
    texts, dropped, subwords, pairs, translator = prepare(file, settings, sizes)
    out.mkdir(parents=True, exist_ok=True)
    checkpoint, subwords_path, table_path, translator_path = paths
    with distributed_context() as group:
        if group.rank == 0:
            count = sum(map(len, texts.values()))
            print(f"{count} pairs are left", flush=True)
            if dropped:
                print(report(dropped), flush=True)
        held_out = sample(pairs["validation"], VALIDATION_PAIRS, settings.seed)
        trainer = PairTrainer(
            translator, pairs["train"], held_out, settings, group
        )
        curve = trainer.train(checkpoint, resume)
    if group.rank > 0:
        return [], {}
    tested = sample(texts["test"], TEST_PAIRS, settings.seed)
    result, table = evaluate(translator, subwords, tested, settings.batch_size)
    write_whole(subwords_path, subwords.tokenizer.to_str().encode())
    write_whole(table_path, table.encode())
    save_translator(translator, translator_path, settings.seed)
    checkpoint.unlink()
    return curve, result


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE.tsv",
        help="UTF-8; a line has a source, a tab and its translation",
    )
    parser.add_argument("--out", type=Path, default=Path(), metavar="FOLDER")
    parser.add_argument("--resume", action="store_true", help="continue")
    parser.add_argument("--d-model", type=int, default=256)
    parser.add_argument("--layers", type=int, default=3, help="of each stack")
    parser.add_argument("--dropout", type=float, default=0.2)

    def add(name: str, help: str) -> None:
        value = getattr(PairSettings, name)
        flag, text = f"--{name.replace('_', '-')}", f"{help} ({value})"
        parser.add_argument(
            flag, type=type(value), default=value, metavar="…", help=text
        )

    add("steps", help="the most steps")
    add("batch_size", help="tokens of a batch, a side")
    add("schedule", help="noam or linear")
    add("peak", help="largest learning rate of linear")
    add("warmup_steps", help="steps up to the largest learning rate")
    add("smoothing", help="label smoothing")
    add("seed", help="of the weights and of the order")
    add("vocab_size", help="subwords of both languages")
    add("clip", help="largest norm of the gradients, or inf")
    add("every", help="steps from one measurement to the next")
    add("average", help="how many of the last models are averaged")
    add("patience", help="measurements without a better model until the end")
    parser.add_argument("--bfloat16", action="store_true", help="for a GPU")
    parser.add_argument("--compile", action="store_true", help="for a GPU")
    options = vars(parser.parse_args(arguments))
    sizes = {
        name: options.pop(name) for name in ("d_model", "layers", "dropout")
    }
    try:
        _, result = run_pairs(sizes=model_sizes(**sizes), **options)
    except (ValueError, OSError) as error:
        sys.exit(f"train_pairs.py: {error}")
    except KeyboardInterrupt as stopped:
        sys.exit(f"\n{stopped}")
    print()
    for name, score in result.items():
        print(f"{score:8.2f}  {name}")


if __name__ == "__main__":
    main()
# --8<-- [end:main]
