"""The weights of the trained translator's cross-attention."""

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import torch
from torch import Tensor

import translator
from decode import eval_mode
from transformer import DecoderLayer, Transformer
from translator import BOS

TRANSLATOR_WEIGHTS = Path(translator.__file__).with_name("translator.safetensors")


def forward_with_attention(
    model: Transformer, src: Tensor, tgt: Tensor
) -> tuple[Tensor, list[Tensor]]:
    """The logits, and the weights of each layer's cross-attention, (batch, head, n, m)."""
    weights: list[Tensor] = []

    def record_weights(module, inputs, _) -> None:
        weights.append(module.forward(*inputs, need_weights=True)[1])

    with eval_mode(model), ExitStack() as hooks:
        for layer in cast(Iterable[DecoderLayer], model.decoder.layers):
            hooks.enter_context(layer.cross_attention.register_forward_hook(record_weights))
        return model(src, tgt), weights


def trace_translation(words: list[str]) -> tuple[list[str], Tensor]:
    """The tokens of the translation, with <eos>, and their cross-attention to the words.

    The weights are (layer, head, token, word).
    """
    trained = translator.load_translator(TRANSLATOR_WEIGHTS)
    (translation,) = trained.translate([words])
    src = torch.tensor([trained.source.encode(words)])
    tgt = torch.tensor([[BOS, *trained.target.encode(translation)]])
    _, weights = forward_with_attention(trained.model, src, tgt)
    return [*translation, "<eos>"], torch.cat(weights)
