import torch
from torch import nn

from transformer import LayerNorm, layer_norm


def with_gradients(y, x, weight, bias):
    return [y, *torch.autograd.grad(y, [x, weight, bias], arriving)]


torch.manual_seed(0)
for dtype, close in (torch.float32, 1e-5), (torch.float64, 1e-13):
    theirs = nn.LayerNorm(512, dtype=dtype)
    nn.init.normal_(theirs.weight)
    nn.init.normal_(theirs.bias)
    ours = LayerNorm(512).to(dtype)
    ours.load_state_dict(theirs.state_dict())

    x = torch.randn(2, 5, 512, dtype=dtype, requires_grad=True)
    arriving = torch.randn_like(x)  # the gradient at the output
    w, b = theirs.weight, theirs.bias
    expected = with_gradients(theirs(x), x, w, b)
    for name, results in (
        ("function", with_gradients(layer_norm(x, w, b, theirs.eps), x, w, b)),
        ("class", with_gradients(ours(x), x, ours.weight, ours.bias)),
    ):
        for result, other in zip(results, expected, strict=True):
            torch.testing.assert_close(result, other, rtol=0, atol=close)
        print(f"{name}, {dtype}, all {len(results)} agree within: {close}")
