# --8<-- [start:data]
"""Teach a published model to write the last name first, with LoRA.

python -m variants.lora_names
"""

import argparse
import random
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from variants.chat import decode_stream, generate
from variants.gguf_weights import read_gguf
from variants.lora import add_lora, merge_lora
from variants.smollm2 import (
    Decoder,
    get_file,
    load_weights,
    make_decoder,
    make_tokenizer,
)

if TYPE_CHECKING:
    from tokenizers import Tokenizer

END = "<|im_end|>"
IGNORED = -100  # the targets that cross_entropy leaves out
FIRST_NAMES = """
Adam Alice Anna Arthur Barbara Boris Carl Clara Daniel David Diana Edward
Elena Emma Felix Frank George Grace Hannah Helen Henry Hugo Ian Irene Jack
Julia Karen Kevin Laura Leo Lucy Maria Mark Martin Nancy Nora Oliver Oscar
Paul Peter Rachel Robert Sarah Simon Susan Thomas Victor Walter
"""
LAST_NAMES = """
Adams Baker Bauer Berg Brown Carter Clark Cook Costa Davis Evans Fischer
Fisher Garcia Grant Hansen Harris Hill Hughes Jensen Jones King Klein Larsen
Lewis Lopez Meyer Miller Moore Morris Nelson Olsen Parker Quinn Reed Rossi
Russo Scott Silva Smith Taylor Turner Wagner Walker Ward Weber Wilson Young
"""


Pairs = list[tuple[str, str]]  # prompts and answers


def make_pairs() -> tuple[Pairs, Pairs, Pairs]:
    """The pairs for training, for validation and for the test.

    No first name and no last name is in two of the three.
    """
    generator = random.Random(0)
    first, last = FIRST_NAMES.split(), LAST_NAMES.split()
    generator.shuffle(first)
    generator.shuffle(last)

    def combine(names: slice) -> Pairs:
        pairs = [
            (f"Name: {name} {surname} =", f" {surname}, {name}{END}")
            for name in first[names]
            for surname in last[names]
        ]
        generator.shuffle(pairs)
        return pairs

    training = combine(slice(24, 48))
    return training, combine(slice(12))[:100], combine(slice(12, 24))[:100]


def make_batch(
    tokenizer: "Tokenizer", pairs: Iterable[tuple[str, str]]
) -> tuple[Tensor, Tensor]:
    """Ids, and at each position the next token, if it is of the answer.

    All other targets are IGNORED. Shapes: both (batch, n) int64.
    """
    inputs, targets = [], []
    for prompt, answer in pairs:
        start = tokenizer.encode(prompt).ids
        end = tokenizer.encode(answer).ids
        inputs.append(torch.tensor(start + end[:-1]))
        targets.append(torch.tensor([IGNORED] * (len(start) - 1) + end))
    return (
        pad_sequence(inputs, batch_first=True),
        pad_sequence(targets, batch_first=True, padding_value=IGNORED),
    )


# --8<-- [end:data]
# --8<-- [start:train]
def train(
    model: Decoder,
    optimizer: torch.optim.Optimizer,
    batches: Iterable[tuple[Tensor, Tensor]],
) -> Iterator[float]:
    """Yield the loss of each step."""
    for ids, targets in batches:
        logits = model(ids)  # (batch, n, vocab_size)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


@torch.inference_mode()
def count_correct(model: Decoder, ids: Tensor, targets: Tensor) -> int:
    """The number of answers that greedy decoding would write exactly."""
    chosen = model(ids).argmax(dim=-1)  # (batch, n)
    correct = (chosen == targets) | (targets == IGNORED)
    return int(correct.all(dim=1).sum())


# --8<-- [end:train]
# --8<-- [start:main]
BATCH_SIZE = 8


def make_batches(
    tokenizer: "Tokenizer", pairs: Pairs, steps: int, seed: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Random training pairs; those in a batch are different."""
    generator = random.Random(seed)
    for _ in range(steps):
        yield make_batch(tokenizer, generator.sample(pairs, BATCH_SIZE))


def complete(model: Decoder, tokenizer: "Tokenizer", prompt: str) -> str:
    """The prompt and at most 12 tokens that the model adds."""
    (eos_id,) = tokenizer.encode(END).ids
    new = generate(model, tokenizer.encode(prompt).ids, 12, eos_id)
    return prompt + "".join(decode_stream(tokenizer, new))


def fine_tune(rank: int, steps: int, lr: float) -> None:
    """Print how many names of the test are correct before and after."""
    settings, tensors = read_gguf(get_file())
    tokenizer = make_tokenizer(settings)
    model = make_decoder(settings)
    load_weights(model, tensors)
    add_lora(model, rank)
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    print(f"trained: {sum(weight.numel() for weight in trained):,} numbers")
    optimizer = torch.optim.Adam(trained, lr)
    training, _, tested = make_pairs()
    test = make_batch(tokenizer, tested)
    print(f"before: {count_correct(model, *test)} of {len(tested)} correct")
    batches = make_batches(tokenizer, training, steps, seed=0)
    for step, loss in enumerate(train(model, optimizer, batches), start=1):
        if step % 10 == 0:
            print(f"step {step}, loss {loss:.3f}")
    merge_lora(model)
    print(f"after: {count_correct(model, *test)} of {len(tested)} correct")
    for prompt, _ in tested[:3]:
        print(complete(model, tokenizer, prompt))


def main() -> None:
    parser = argparse.ArgumentParser("python -m variants.lora_names")
    parser.add_argument("--rank", type=int, default=4)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--lr", type=float, default=1e-3)
    options = parser.parse_args()
    try:
        fine_tune(options.rank, options.steps, options.lr)
    except (OSError, ValueError, ImportError) as error:
        sys.exit(f"lora_names.py: {error}")


if __name__ == "__main__":
    main()
# --8<-- [end:main]
