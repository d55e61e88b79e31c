# --8<-- [start:join]
"""A pair in one sequence, source, <bos>, target, for a model that is causal."""

from collections.abc import Callable
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from corpus import Pair, Vocabulary
from transformer import Transformer
from translator import BOS, EOS, PAD, Translator, padded


class OneSequence(nn.Module):
    """A causal model of one sequence, called as Transformer is.

    Shapes: src (batch, m), tgt (batch, n), both padded on the right ->
    (batch, n, vocab_size): logits at the target's places alone, so that a
    loss on them asks nothing of the source.
    """

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model
        self.config = model.config  # with d_model, for the training

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        both = torch.cat([src, tgt], dim=1)  # (batch, m + n)
        order = (both == PAD).int().argsort(dim=1, stable=True)
        logits = self.model(both.gather(1, order))  # each <pad> comes last
        start = (src != PAD).sum(dim=1, keepdim=True)  # (batch, 1)
        place = start + torch.arange(tgt.size(1), device=tgt.device)
        rows = torch.arange(len(tgt), device=tgt.device)[:, None]
        return logits[rows, place]  # (batch, n, vocab_size)


# --8<-- [end:join]
# --8<-- [start:generate]
@torch.no_grad()
def generate(
    model: nn.Module, prompt: Tensor, max_len: int, eos_id: int = EOS
) -> Tensor:
    """What the model writes after each prompt: the likeliest token each time.

    Shapes: prompt (batch, m), padded on the right -> (batch, n), n <= max_len,
    up to <eos>, then <pad>. Nothing is kept: each step starts over.
    Raises ValueError for a max_len below 1.
    """
    if max_len < 1:
        raise ValueError(f"max_len must be at least 1, got {max_len}")
    training = model.training
    model.eval()
    ids = F.pad(prompt, (0, max_len), value=PAD)  # (batch, m + max_len)
    rows = torch.arange(len(ids), device=ids.device)
    length = (prompt != PAD).sum(dim=1)  # (batch,)
    finished = torch.zeros_like(length, dtype=torch.bool)
    written: list[Tensor] = []
    while len(written) < max_len and not finished.all():
        logits = model(ids[:, : int(length.max())])[rows, length - 1]
        logits[:, PAD] = -torch.inf
        new = logits.argmax(dim=-1).masked_fill(finished, PAD)
        ids[rows, length] = new
        finished = finished | (new == eos_id)
        length = length + 1
        written.append(new)
    model.train(training)
    return torch.stack(written, dim=1)


# --8<-- [end:generate]
# --8<-- [start:translator]
class OneSequenceTranslator(Translator):
    """A translator with one vocabulary for both languages."""

    def translate(
        self, sentences: list[list[str]], max_len: int = 60
    ) -> list[list[str]]:
        """Lists of words -> lists of characters, by greedy decoding."""
        model = cast(OneSequence, self.model).model
        ids = [self.source.encode(words) for words in sentences]
        prompt = padded(torch.tensor([*row, BOS]) for row in ids)
        prompt = prompt.to(next(model.parameters()).device)
        found = generate(model, prompt, max_len)
        return [self.target.decode(row) for row in found.tolist()]


def new_one_sequence(
    make: Callable[[int], nn.Module], pairs: list[Pair], seed: int = 0
) -> OneSequenceTranslator:
    """An untrained one; make gives a causal model for a vocab_size."""
    both = Vocabulary(token for p in pairs for token in p.source + p.target)
    torch.manual_seed(seed)
    model = cast(Transformer, OneSequence(make(len(both))))
    return OneSequenceTranslator(model, both, both)


# --8<-- [end:translator]
