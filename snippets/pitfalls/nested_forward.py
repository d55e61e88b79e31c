import torch
from torch import nn


class WrongLayer(nn.Module):
    def __init__(self):
        super().__init__()

        def forward(self, x):
            return x.relu()


class WrongScaled(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model)
        nn.init.normal_(self.weight, std=d_model**-0.5)

        def forward(self, input):
            return super().forward(input) * self.embedding_dim**0.5


class RightScaled(WrongScaled):
    def forward(self, input):
        return super().forward(input) * self.embedding_dim**0.5


torch.manual_seed(0)
try:
    WrongLayer()(torch.zeros(1, 5, 8))
except NotImplementedError as error:
    print(f"wrong, from nn.Module: {error}")
for name, make in ("wrong", WrongScaled), ("right", RightScaled):
    vectors = make(1000, 512)(torch.arange(1000))
    length = vectors.norm(dim=1).mean()
    print(f"{name}, from nn.Embedding, a vector's length: {length:.1f}")
    print(f"{name}, has a forward of its own: {'forward' in vars(make)}")
