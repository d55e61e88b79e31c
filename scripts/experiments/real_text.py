#!/usr/bin/env python3
"""Our model with the weights of OPUS-MT's architecture against transformers' MarianMTModel.

The weights are random, the shapes are the published ones with the whole vocabulary. Both write
translations with greedy decoding; a smaller model also with beam search. Needs the test tools.
Writes snippets/results/real-text.json.
"""

import json
import platform
from importlib.metadata import version
from pathlib import Path

import torch
import torch.nn.functional as F

import translator
from decode import beam_search, greedy_decode, sentence_score
from evidence import marian_models as reference

ROOT = Path(__file__).resolve().parents[2]

RESULTS = ROOT / "snippets" / "results" / "real-text.json"
SEEDS = {"en-zh": 0, "zh-en": 1}
SENTENCES, LENGTH, BEAM_SENTENCES, BEAM_SIZE = 8, 12, 200, 2


def compare_published(seed: int) -> dict:
    """Layers, logits and greedy translations in the published shapes."""
    size = reference.VOCAB_SIZE
    models = reference.random_models(size, seed, attn_implementation="eager")
    src = reference.random_ids(size, SENTENCES, LENGTH, padded=3)
    target = reference.random_ids(size, SENTENCES, LENGTH - 1)
    differences = reference.relative_differences(models, src, target)
    effects = reference.input_effects(models, src, target)
    theirs = reference.generate(models, src, LENGTH)
    ours = greedy_decode(models[1], src, LENGTH, size, reference.EOS)
    stacks = {
        stack: max(value for label, value in differences.items() if label.startswith(stack))
        for stack in ("encoder", "decoder", "logits")
    }
    width = max(theirs.size(1), ours.size(1))
    theirs, ours = (
        F.pad(ids, (0, width - ids.size(1)), value=models[1].config.pad_id)
        for ids in (theirs, ours)
    )
    return stacks | {
        "other ids": effects,
        "greedy": (theirs == ours).all(dim=1).sum().item(),
        "different": len({tuple(row) for row in ours.tolist()}),
    }


def compare_beams() -> dict:
    """How many translations of a beam search are equal; how many are below the greedy one."""
    models = reference.random_models(60, std=0.6, **reference.SMALL)
    src = reference.random_ids(60, BEAM_SENTENCES, 5)
    options = {"num_beams": BEAM_SIZE, "length_penalty": 0.0, "early_stopping": "never"}
    found = {
        "generate": reference.generate(models, src, LENGTH, **options),
        "ours": beam_search(models[1], src, LENGTH, 60, reference.EOS, BEAM_SIZE, 0.0),
        "greedy": greedy_decode(models[1], src, LENGTH, 60, reference.EOS),
    }
    pad = models[1].config.pad_id
    padded = {k: F.pad(v, (0, LENGTH - v.size(1)), value=pad) for k, v in found.items()}
    scores = {k: sentence_score(models[1], src, v, 60) for k, v in padded.items()}
    below = {
        f"{k} below greedy": (scores[k] < scores["greedy"] - 1e-4).sum().item()
        for k in ("generate", "ours")
    }
    same = (padded["generate"] == padded["ours"]).all(dim=1).sum().item()
    return {"sentences": BEAM_SENTENCES, "same": same} | below


def key() -> str:
    names = "transformer.py", "decode.py", "variants/marian.py"
    files = [ROOT / "snippets" / name for name in names]
    return translator.code_key(Path(__file__), Path(reference.__file__), *files)


def main() -> None:
    torch.set_num_threads(1)
    results = {
        "key": key(),
        "environment": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": version("transformers"),
        },
        "vocabulary": reference.VOCAB_SIZE,
        "sentences": SENTENCES,
        "directions": {name: compare_published(seed) for name, seed in SEEDS.items()},
        "beams": compare_beams(),
    }
    RESULTS.write_text(f"{json.dumps(results, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
