import torch
from torch import nn

from transformer import LayerNorm


def with_gradients(norm, x):
    y = norm(x)
    parts = [x, norm.weight, norm.bias]
    return [y, *torch.autograd.grad(y, parts, arriving)]


torch.manual_seed(0)
for dtype, close in (torch.float32, 1e-5), (torch.float64, 1e-13):
    theirs = nn.LayerNorm(512, dtype=dtype)
    nn.init.normal_(theirs.weight)
    nn.init.normal_(theirs.bias)
    ours = LayerNorm(512).to(dtype)
    ours.load_state_dict(theirs.state_dict())

    x = torch.randn(2, 5, 512, dtype=dtype, requires_grad=True)
    arriving = torch.randn_like(x)  # the gradient at the output
    results = with_gradients(ours, x)
    expected = with_gradients(theirs, x)
    for result, other in zip(results, expected, strict=True):
        torch.testing.assert_close(result, other, rtol=0, atol=close)
    print(f"{dtype}, all {len(results)} agree within: {close}")
