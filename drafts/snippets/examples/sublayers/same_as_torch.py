import torch
from torch import nn

from transformer import LayerNorm

torch.manual_seed(0)
for dtype, close in (torch.float32, 1e-5), (torch.float64, 1e-13):
    ours, theirs = LayerNorm(512).to(dtype), nn.LayerNorm(512, dtype=dtype)
    with torch.no_grad():
        theirs.weight.normal_()
        theirs.bias.normal_()
    ours.load_state_dict(theirs.state_dict())

    x = torch.randn(2, 5, 512, dtype=dtype, requires_grad=True)
    arriving = torch.randn_like(x)  # the gradient at the output
    pairs = []
    for norm in ours, theirs:
        y = norm(x)
        wanted = [x, norm.weight, norm.bias]
        pairs.append([y, *torch.autograd.grad(y, wanted, arriving)])
    names = "output", "gradient of x", "of weight", "of bias"
    for name, one, other in zip(names, *pairs, strict=True):
        same = torch.allclose(one, other, rtol=0, atol=close)
        print(f"{dtype}, {name}, within {close}: {same}")
