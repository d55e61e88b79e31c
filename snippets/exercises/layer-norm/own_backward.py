import torch

from transformer import LayerNorm

torch.manual_seed(0)
norm = LayerNorm(8).double()
with torch.no_grad():
    norm.weight.normal_()
x = torch.randn(2, 5, 8, dtype=torch.float64, requires_grad=True)
arriving = torch.randn_like(x)
norm(x).backward(arriving)

with torch.no_grad():
    centered = x - x.mean(dim=-1, keepdim=True)
    scale = (centered.square().mean(dim=-1, keepdim=True) + norm.eps).rsqrt()
    y = centered * scale
    g = arriving * norm.weight
    along = (g * y).mean(dim=-1, keepdim=True)
    ours = scale * (g - g.mean(dim=-1, keepdim=True) - y * along)
print("gradient of x agrees:", ours.allclose(x.grad))
print("of weight:", (arriving * y).sum((0, 1)).allclose(norm.weight.grad))
print("of bias:", arriving.sum((0, 1)).allclose(norm.bias.grad))
print("sum over a token:", x.grad.sum(-1).abs().max().item() < 1e-12)
