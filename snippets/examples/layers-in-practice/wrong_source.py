import torch

from transformer import DecoderLayer, TransformerConfig, causal_mask


class ReadsItself(DecoderLayer):
    def forward(self, x, memory, mask=None, memory_mask=None):
        return super().forward(x, x, mask, mask)


torch.manual_seed(0)
config = TransformerConfig(9, 12, d_model=32, nhead=4, dropout=0.0)
target = torch.randn(1, 9, 32)
memory = torch.randn(1, 5, 32, requires_grad=True)
another = torch.randn(1, 5, 32)  # another sentence
for layer in DecoderLayer(config), ReadsItself(config):
    name = type(layer).__name__
    y = layer(target, memory, causal_mask(9))
    other = layer(target, another, causal_mask(9))
    (grad,) = torch.autograd.grad(y[0, 0, 0], memory, allow_unused=True)
    print(f"{name}, shape:", tuple(y.shape))
    print(f"{name}, all finite:", y.isfinite().all().item())
    print(f"{name}, changes with the source:", not torch.equal(y, other))
    print(f"{name}, a gradient reaches the encoder:", grad is not None)
