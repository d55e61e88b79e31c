import torch
from torch import nn

from transformer import EncoderLayer, TransformerConfig

config = TransformerConfig(9, 12, d_model=32, nhead=4, dim_feedforward=64)


class Stack(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers
        self.output = nn.Linear(32, 12)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.output(x)


def wrong_stack():
    return Stack([EncoderLayer(config) for _ in range(6)])


def right_stack():
    return Stack(nn.ModuleList(EncoderLayer(config) for _ in range(6)))


torch.manual_seed(0)
for name, make in ("wrong", wrong_stack), ("right", right_stack):
    model, x = make().eval(), torch.randn(1, 5, 32)
    count = sum(parameter.numel() for parameter in model.parameters())
    print(f"{name}, parameters: {count}")
    print(f"{name}, names in a checkpoint: {len(model.state_dict())}")
    print(f"{name}, twice the same: {torch.equal(model(x), model(x))}")
