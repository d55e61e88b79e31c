# --8<-- [start:imports]
"""Training: a Transformer learns to translate, in a minute or a few.

    python train.py numerals
    python train.py translator --seed 1 --out second
    python train.py translator --resume
    torchrun --nproc-per-node 2 train.py translator

Writes TASK.safetensors, and a checkpoint as it goes on; Ctrl-C saves
one too. On one thread of one kind of processor the same seed gives the same
weights, bit by bit. For sentence pairs of your own there is train_pairs.py.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

import corpus
from corpus import Pair
from trainer import Settings, Trainer, distributed_context
from translator import (
    exact_match,
    load_translator,
    new_translator,
    save_translator,
)


# --8<-- [end:imports]
# --8<-- [start:tasks]
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


# --8<-- [end:tasks]
# --8<-- [start:main]
def run_task(
    name: str, out: Path, resume: bool = False, **changes: Any
) -> tuple[list[dict[str, float]], dict[str, float]]:
    """Train a task's translator and save it in the folder.

    Returns the curve, and the exact match of what the file holds on the test
    part, by kind. The changes are to the task's settings. Errors: as
    Trainer.train.
    """
    task = TASKS[name]
    settings = replace(task.settings, **changes)
    pairs, held_out = task.pairs("train"), task.pairs("validation")[:400]
    translator = new_translator(pairs, settings.seed, **task.sizes)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}.safetensors"
    checkpoint = path.with_suffix(".checkpoint")
    with distributed_context() as group:
        trainer = Trainer(translator, pairs, held_out, settings, group)
        curve = trainer.train(checkpoint, resume)
    if group.rank > 0:
        return [], {}
    save_translator(translator, path, settings.seed)
    checkpoint.unlink()
    return curve, exact_match(load_translator(path), task.pairs("test"))


def main() -> None:
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
