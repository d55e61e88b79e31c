# --8<-- [start:weights_of]
"""The attention weights of a trained model."""

import torch
from torch import Tensor

from transformer import Transformer


@torch.no_grad()
def weights_of(
    model: Transformer, name: str, src: Tensor, tgt: Tensor
) -> Tensor:
    """The weights of one attention, (batch, head, query, key).

    name is its path in the model, such as decoder.layers.1.cross_attention.
    tgt begins with <bos>. The model is left in evaluation mode.
    """
    attention = model.eval().get_submodule(name)
    inputs: list[tuple] = []

    def keep(module, args, output):
        inputs.append(args)

    with attention.register_forward_hook(keep):
        model(src, tgt)
    _, weights = attention(*inputs[0], need_weights=True)
    return weights


# --8<-- [end:weights_of]
