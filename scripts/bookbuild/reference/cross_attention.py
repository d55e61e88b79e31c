"""Where the translator looks: the weights of its cross-attention."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import torch

import translator
from decode import evaluating
from transformer import DecoderLayer
from translator import BOS, Translator

TRANSLATOR_WEIGHTS = Path(translator.__file__).with_name("translator.safetensors")


@contextmanager
def record_cross_attention(translator: Translator) -> Iterator[list[torch.Tensor]]:
    """Collects the weights of each layer, (batch, head, n, m)."""
    found: list[torch.Tensor] = []

    def look(module, inputs, _) -> None:
        found.append(module.forward(*inputs, need_weights=True)[1])

    layers = cast(Iterable[DecoderLayer], translator.model.decoder.layers)
    hooks = [layer.cross_attention.register_forward_hook(look) for layer in layers]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def trace_translation(words: list[str]) -> tuple[list[str], torch.Tensor]:
    """What the translator writes, to <eos>, and how it looks at the words meanwhile.

    The weights are (layer, head, token, word).
    """
    trained = translator.load_translator(TRANSLATOR_WEIGHTS)
    (written,) = trained.translate([words])
    src = torch.tensor([trained.source.encode(words)])
    given = torch.tensor([[BOS, *trained.target.encode(written)]])
    with evaluating(trained.model), record_cross_attention(trained) as weights:
        trained.model(src, given)
    return [*written, "<eos>"], torch.cat(weights)
