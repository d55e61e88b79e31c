import torch
from torch import nn

from transformer import EncoderLayer, TransformerConfig

config = TransformerConfig(9, 12, d_model=32, nhead=4, dim_feedforward=64)


def wrong_stack():
    return nn.ModuleList([EncoderLayer(config)] * 6)


def right_stack():
    return nn.ModuleList(EncoderLayer(config) for _ in range(6))


def same(layer, other):
    pairs = zip(layer.parameters(), other.parameters(), strict=True)
    return all(torch.equal(mine, theirs) for mine, theirs in pairs)


torch.manual_seed(0)
trained = right_stack()  # stands for a checkpoint of six layers
for make in wrong_stack, right_stack:
    stack, name = make(), make.__name__.split("_")[0]
    print(f"{name}, names in the state_dict: {len(stack.state_dict())}")
    print(f"{name}, parameters: {sum(p.numel() for p in stack.parameters())}")
    told = str(stack.load_state_dict(trained.state_dict())).strip("<>")
    print(f"{name}, loading the checkpoint says: {told}")
    loaded = [i for i in range(6) if same(stack[i], trained[i])]
    print(f"{name}, layers as in the checkpoint: {loaded}")
