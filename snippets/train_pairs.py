# --8<-- [start:imports]
"""Training on your own sentence pairs, from a file of source, tab, target.

    python train.py --pairs pairs.tsv
    python train.py --pairs pairs.tsv --resume
    torchrun --nproc-per-node 2 train.py --pairs pairs.tsv --bfloat16

Writes pairs.safetensors (the translator), pairs.subwords.json and
pairs.test.tsv (source, reference and translation of the test set); and a
checkpoint, also at Ctrl-C. Without --resume no existing file is overwritten.
"""

import argparse
import math
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

from checkpoints import load_checkpoint, save_checkpoint, write_whole
from corpus import Pair, Vocabulary
from metrics import evaluate
from pair_run import SIZES, PairRun, PairSettings
from real_text import (
    MAX_BYTES,
    Dropped,
    Subwords,
    Text,
    learn_subwords,
    read_pairs,
    report,
    split_pairs,
)
from train import (
    SINGLE_PROCESS,
    DistributedContext,
    ctrl_c,
    distributed_context,
    show_line,
)
from transformer import Transformer, TransformerConfig
from translator import Translator, save_translator

VALIDATION_PAIRS, TEST_PAIRS = 500, 2000  # at most, drawn at random


# --8<-- [end:imports]
# --8<-- [start:train]
def train_pairs(
    translator: Translator,
    pairs: list[Pair],
    held_out: list[Pair],
    settings: PairSettings,
    checkpoint: Path | None = None,
    resume: bool = False,
    group: DistributedContext = SINGLE_PROCESS,
    show: Callable[[str], None] = show_line,
) -> list[dict[str, float]]:
    """Train the translator's model on pairs of subwords; returns the curve.

    A point, every so many steps, has the step, the mean loss since the point
    before, the learning rate, the loss on held_out in nats, the largest norm
    of the gradients, the number of clipped steps and the processor's seconds.
    Checkpoints and errors: as train.train, and ValueError for gradients that
    are not finite.
    """
    run = PairRun(translator, pairs, held_out, settings, group)
    if resume and checkpoint:
        run.resume(load_checkpoint(checkpoint, run.about))
    started = time.process_time() - run.seconds
    run.model.train()
    with ctrl_c() as asked:
        for loss, stop in run.steps(asked):
            run.losses.append(loss)
            run.seconds = time.process_time() - started
            due = run.step % settings.every == 0 or run.step == settings.steps
            if due:
                run.measure()
            if group.rank == 0 and (due or run.step % 10 == 0):
                show(line_of(run))
            if group.rank == 0 and (due or stop) and checkpoint:
                save_checkpoint(checkpoint, run.state())
            if stop:
                where = f"stopped after step {run.step}"
                raise KeyboardInterrupt(f"{where}; go on with --resume")
    run.average()
    run.model.eval()
    return run.curve


def line_of(run: PairRun) -> str:
    loss, perplexity = statistics.fmean(run.losses or [math.nan]), "?"
    if run.curve:
        loss = loss if run.losses else run.curve[-1]["loss"]
        perplexity = f"{math.exp(run.curve[-1]['held_out']):.2f}"
    clipped = run.clipped + sum(point["clipped"] for point in run.curve)
    return (
        f"step {run.step}/{run.settings.steps}  loss {loss:.3f}  "
        f"rate {run.rate:.5f}  perplexity {perplexity}  "
        f"clipped {clipped}  CPU {run.seconds:.0f} s "
    )


# --8<-- [end:train]
# --8<-- [start:main]
class Prepared(NamedTuple):
    """The data of a training by part, and its translator, still untrained."""

    texts: dict[str, list[Text]]
    dropped: Dropped
    subwords: Subwords
    pairs: dict[str, list[Pair]]
    translator: Translator


def prepare(
    file: Path, settings: PairSettings, sizes: dict[str, Any] = SIZES
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
    resume: bool = False,
    sizes: dict[str, Any] = SIZES,
    **changes: Any,
) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Train on a file's pairs; save and test the translator.

    Returns the curve, and perplexity, BLEU and chrF on the test set. The
    changes are to the settings. Raises ValueError for bad input and existing
    results, before anything is written. Other errors: as train_pairs.
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
        curve = train_pairs(
            translator,
            pairs["train"],
            sample(pairs["validation"], VALIDATION_PAIRS, settings.seed),
            settings,
            checkpoint,
            resume,
            group,
        )
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
        "--pairs",
        dest="file",
        type=Path,
        required=True,
        metavar="FILE.tsv",
        help="UTF-8; a line has a source, a tab and its translation",
    )
    parser.add_argument("--out", type=Path, default=Path(), metavar="FOLDER")
    parser.add_argument("--resume", action="store_true", help="continue")
    parser.add_argument("--d-model", type=int, default=SIZES["d_model"])
    parser.add_argument("--layers", type=int, default=3, help="of each stack")
    parser.add_argument("--dropout", type=float, default=SIZES["dropout"])

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
    d_model, layers = options.pop("d_model"), options.pop("layers")
    sizes = SIZES | {
        "d_model": d_model,
        "nhead": max(1, d_model // 64),
        "num_encoder_layers": layers,
        "num_decoder_layers": layers,
        "dim_feedforward": 4 * d_model,
        "dropout": options.pop("dropout"),
    }
    try:
        _, result = run_pairs(sizes=sizes, **options)
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
