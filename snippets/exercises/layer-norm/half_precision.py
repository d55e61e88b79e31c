import torch

from transformer import LayerNorm


def layer_norm(x, weight, bias, eps):
    centered = x - x.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)
    return centered * (variance + eps).rsqrt() * weight + bias


def safe_layer_norm(x, weight, bias, eps):
    y = layer_norm(x.float(), weight.float(), bias.float(), eps)
    return y.to(x.dtype)


x = torch.tensor([-300.0, -100, -100, 500], dtype=torch.float16)
norm = LayerNorm(4).half()
print("largest float16:", torch.finfo(torch.float16).max)
print("500 squared:", x[3].square().item())
for name, y in (
    ("the function", layer_norm(x, norm.weight, norm.bias, norm.eps)),
    ("the class", norm(x)),
    ("repaired", safe_layer_norm(x, norm.weight, norm.bias, norm.eps)),
):
    rounded = [round(number, 2) for number in y.tolist()]
    print(f"{name}:", rounded)
