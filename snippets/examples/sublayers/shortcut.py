import torch

from transformer import FeedForward


def show_gradients(use_shortcut):
    torch.manual_seed(0)  # the same weights both times
    layers = [FeedForward(3, 12, dropout=0.0) for _ in range(5)]
    x = torch.tensor([1.0, 0, -1])
    for layer in layers:
        output = layer(x)
        x = x + output if use_shortcut else output
    loss = x.square().sum()
    loss.backward()
    for number, layer in enumerate(layers):
        size = layer.linear1.weight.grad.abs().mean().item()
        print(f"shortcut {use_shortcut}, layer {number}: {size:.5f}")


show_gradients(use_shortcut=False)
show_gradients(use_shortcut=True)
