import torch
from torch.autograd.graph import saved_tensors_hooks

from transformer import LayerNorm


def layer_norm(x, weight, bias, eps):
    centered = x - x.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)
    return centered * (variance + eps).rsqrt() * weight + bias


norm = LayerNorm(512)
x = torch.randn(16, 20, 512, requires_grad=True)


def kept(function):
    """Which tensors of the shape of x are kept for the backward pass."""
    places = set()

    def keep(tensor):
        if tensor.shape == x.shape:
            places.add(tensor.data_ptr())
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        function()
    return places


function = kept(lambda: layer_norm(x, norm.weight, norm.bias, norm.eps))
kernel = kept(lambda: norm(x))
print("kept by the function:", len(function))
print("kept by the kernel:", len(kernel))
print("and that is x itself:", kernel == {x.data_ptr()})
