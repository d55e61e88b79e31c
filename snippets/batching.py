# --8<-- [start:imports]
"""Batches of training examples, by sentences or by tokens."""

import random
from collections.abc import Iterator

import torch
from torch import Tensor

from corpus import Pair
from translator import BOS, EOS, Translator

Example = tuple[Tensor, Tensor]  # ids of a source, and of <bos> target <eos>


def example_of(translator: Translator, pair: Pair) -> Example:
    src = translator.source.encode(pair.source)
    tgt = translator.target.encode(pair.target)
    return torch.tensor(src), torch.tensor([BOS, *tgt, EOS])


# --8<-- [end:imports]
# --8<-- [start:batches]
def batches(
    examples: list[Example], batch_size: int, seed: int, start: int = 0
) -> Iterator[list[Example]]:
    """Batches of sentences of like length, without end, from number start on.

    Each epoch is shuffled and cut into stretches of 50 batches; a stretch is
    sorted by length and cut into batches; the batches are shuffled. What does
    not fill a batch waits for another epoch. Seed and epoch decide the order.
    Raises ValueError for a batch_size that the examples cannot fill.
    """
    if not 1 <= batch_size <= len(examples):
        raise ValueError(
            f"batch_size must lie in 1 .. {len(examples)}, as many as there "
            f"are examples, got {batch_size}"
        )
    per_epoch = len(examples) // batch_size
    epoch, start = divmod(start, per_epoch)
    while True:
        rng = random.Random(f"{seed} {epoch}")
        shuffled = rng.sample(examples, per_epoch * batch_size)
        epoch_batches = []
        for i in range(0, len(shuffled), 50 * batch_size):
            stretch = shuffled[i : i + 50 * batch_size]
            stretch.sort(key=lambda example: [len(ids) for ids in example])
            for k in range(0, len(stretch), batch_size):
                epoch_batches.append(stretch[k : k + batch_size])
        rng.shuffle(epoch_batches)
        yield from epoch_batches[start:]
        epoch, start = epoch + 1, 0


# --8<-- [end:batches]
# --8<-- [start:cut]
def length(example: Example) -> int:
    """The tokens of an example's longer sentence."""
    return max(len(ids) for ids in example)


def cut(lengths: list[int], max_tokens: int, processes: int = 1) -> list[slice]:
    """Where to cut examples, the longest first, into batches.

    A batch has at most max_tokens tokens a side, padding included. Examples
    at the end that are fewer than the processes are left out.
    Raises ValueError for a max_tokens that gives a process no sentence.
    """
    if max_tokens < lengths[0] * processes:
        raise ValueError(
            f"a batch has at most {max_tokens} tokens, but the longest "
            f"sentence, one for each process, has {lengths[0]} x {processes}"
        )
    slices, start = [], 0
    while len(lengths) - start >= processes:
        stop = min(start + max_tokens // lengths[start], len(lengths))
        slices.append(slice(start, stop))
        start = stop
    return slices


# --8<-- [end:cut]
# --8<-- [start:token_batches]
def token_batches(
    examples: list[Example],
    max_tokens: int,
    seed: int,
    start: int = 0,
    processes: int = 1,
) -> Iterator[list[Example]]:
    """Batches of like length, without end, from number start on.

    In each epoch, examples of the same length and the batches are shuffled.
    Seed and epoch decide the order. Errors: as cut.
    """
    lengths = sorted(map(length, examples), reverse=True)
    slices = cut(lengths, max_tokens, processes)  # the same in every epoch
    epoch, start = divmod(start, len(slices))
    while True:
        rng = random.Random(f"{seed} {epoch}")
        shuffled = rng.sample(examples, len(examples))
        shuffled.sort(key=length, reverse=True)
        batches = [shuffled[each] for each in slices]
        rng.shuffle(batches)
        yield from batches[start:]
        epoch, start = epoch + 1, 0


# --8<-- [end:token_batches]
