"""The weights of the trained translator's cross-attention."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import torch

import translator
from decode import eval_mode
from transformer import DecoderLayer
from translator import BOS, Translator

TRANSLATOR_WEIGHTS = Path(translator.__file__).with_name("translator.safetensors")


@contextmanager
def record_cross_attention(translator: Translator) -> Iterator[list[torch.Tensor]]:
    """Collects the weights of each layer's forward pass, (batch, head, n, m)."""
    weights: list[torch.Tensor] = []

    def record_weights(module, inputs, _) -> None:
        weights.append(module.forward(*inputs, need_weights=True)[1])

    layers = cast(Iterable[DecoderLayer], translator.model.decoder.layers)
    hooks = [layer.cross_attention.register_forward_hook(record_weights) for layer in layers]
    try:
        yield weights
    finally:
        for hook in hooks:
            hook.remove()


def trace_translation(words: list[str]) -> tuple[list[str], torch.Tensor]:
    """The tokens of the translation, with <eos>, and their cross-attention to the words.

    The weights are (layer, head, token, word).
    """
    trained = translator.load_translator(TRANSLATOR_WEIGHTS)
    (translation,) = trained.translate([words])
    src = torch.tensor([trained.source.encode(words)])
    tgt = torch.tensor([[BOS, *trained.target.encode(translation)]])
    with eval_mode(trained.model), record_cross_attention(trained) as weights:
        trained.model(src, tgt)
    return [*translation, "<eos>"], torch.cat(weights)
