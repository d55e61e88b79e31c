# --8<-- [start:draft]
"""Speculative decoding: guess some tokens, check them all in one call."""

from collections.abc import Iterator

import torch

from variants.smollm2 import Cache, Decoder


def draft(ids: list[int], count: int) -> list[int]:
    """What followed the last two tokens where they occurred before."""
    for start in range(len(ids) - 3, -1, -1):
        if ids[start : start + 2] == ids[-2:]:
            return ids[start + 2 : start + 2 + count]
    return []


# --8<-- [end:draft]
# --8<-- [start:speculate]
def shorten(cache: Cache, length: int) -> None:
    """Keep the keys and values of the first tokens; no layer has a window."""
    cache.length = length
    for number, (key, value) in cache.layers.items():
        cache.layers[number] = key[:, :, :length], value[:, :, :length]


@torch.inference_mode()
def speculate(
    model: Decoder, ids: list[int], tokens: int, eos_id: int, guesses: int = 4
) -> Iterator[list[int]]:
    """Yield the tokens of greedy decoding; of each call, all that it confirms.

    Source: Leviathan et al. 2022, section 2, with probabilities of 0 and 1.
    """
    ids, end, cache = [*ids], len(ids) + tokens, Cache()
    while len(ids) < end:
        guess = draft(ids, guesses)
        new = torch.tensor([ids[cache.length :] + guess])
        logits = model(new, cache)[0, -len(guess) - 1 :]
        chosen = logits.argmax(dim=-1).tolist()  # after 0, 1, … guesses
        right = 0
        while right < len(guess) and guess[right] == chosen[right]:
            right += 1
        shorten(cache, len(ids) + right)
        step = chosen[: right + 1][: end - len(ids)]
        if eos_id in step:
            yield step[: step.index(eos_id)]
            return
        ids += step
        yield step


# --8<-- [end:speculate]
