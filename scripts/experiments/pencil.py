#!/usr/bin/env python3
"""The pencil model with several seeds, with and without the loss of where head 0 looks.

All are trained as python pencil.py does, without the unseen sentence. Recorded are the loss, how
many sentences of the training and how many unseen ones are translated correctly, the lowest
probability of a correct token, and the lowest weights that head 0 of the encoder and of the
cross-attention give to the words at which they are to look.
Writes snippets/results/pencil.json.
"""

import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import pencil
import translator
from translator import Translator

SNIPPETS = Path(__file__).resolve().parents[2] / "snippets"

RESULTS = SNIPPETS / "results" / "pencil.json"
LOOKING = (pencil.LOOKING, 0.0)
ALIGNED = 0.5  # head 0 gives more than this to the word at which it is to look


def key() -> str:
    """Of all code that makes the result."""
    files = (SNIPPETS / name for name in (*pencil.MADE_BY, "decode.py"))
    return translator.code_key(*files, __file__)


def measure(looking: float) -> list[dict[str, Any]]:
    torch.set_num_threads(1)
    translators, losses = pencil.train(looking)
    return [
        {"seed": seed, "looking": looking, "loss": round(loss, 5)} | quality(translator)
        for seed, (translator, loss) in enumerate(zip(translators, losses, strict=True))
    ]


def quality(trained: Translator) -> dict[str, Any]:
    pairs = pencil.sentences()
    found = trained.translate([pair.source for pair in pairs])
    correct = [
        pair.source in pencil.UNSEEN
        for target, pair in zip(found, pairs, strict=True)
        if target == pair.target
    ]
    batch = pencil.batch_of(trained, pairs)
    with torch.no_grad(), pencil.recorded_weights(trained.model) as recorded:
        logits = trained.model(batch.src, batch.tgt[:, :-1])
    targets = batch.tgt[:, 1:]
    probs = logits.softmax(dim=-1).gather(-1, targets[..., None])[..., 0]
    encoder = lowest_weight(recorded[0], batch.src_looks)
    cross = lowest_weight(recorded[-1], batch.tgt_looks)
    numbers = torch.cat([weight.flatten() for weight in trained.model.parameters()])
    return {
        "seen": correct.count(False),
        "unseen": correct.count(True),
        "probability": round(probs[targets != translator.PAD].min().item(), 4),
        "encoder weight": round(encoder, 4),
        "cross weight": round(cross, 4),
        "aligned": min(encoder, cross) > ALIGNED,
        "zeros": int((numbers == 0).sum()),
        "largest": int(numbers.abs().max()),
    }


def lowest_weight(weights: Tensor, looks: Tensor) -> float:
    real = looks >= 0
    return weights[:, 0][real].gather(-1, looks[real].unsqueeze(-1)).min().item()


def main() -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        runs = [run for runs in pool.map(measure, LOOKING) for run in runs]
    lines = ",\n  ".join(json.dumps(run) for run in runs)
    RESULTS.write_text(f'{{\n "key": "{key()}",\n "runs": [\n  {lines}\n ]\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
