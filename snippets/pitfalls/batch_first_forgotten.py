import torch
from torch import nn


def wrong_layer():
    return nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0)


def right_layer():
    return nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)


def reached(layer, x, sentence, position):
    """The tokens whose output moves with this one, as (sentence, position)."""
    changed = x.clone()
    changed[sentence, position] += 1.0
    moved = (layer(changed) - layer(x)).abs().amax(dim=-1) > 1e-5
    return [tuple(place) for place in moved.nonzero().tolist()]


for name, make in ("wrong", wrong_layer), ("right", right_layer):
    torch.manual_seed(0)
    layer, x = make(), torch.randn(2, 5, 16)  # (batch, position, d_model)
    print(f"{name}, shape: {tuple(layer(x).shape)}")
    print(f"{name}, in a batch of two: {reached(layer, x, 1, 3)}")
    print(f"{name}, alone: {reached(layer, x[1:], 0, 3)}")
