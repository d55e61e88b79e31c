import torch
from torch import nn

from transformer import LayerNorm


class SafeLayerNorm(LayerNorm):
    def forward(self, x):
        return super().forward(x.float()).to(x.dtype)


x = torch.tensor([-300.0, -100, -100, 500], dtype=torch.float16)
print("largest float16:", torch.finfo(torch.float16).max)
print("500 squared:", x[3].square().item())
for name, norm in (
    ("ours in float16", LayerNorm(4).half()),
    ("computed in float32", SafeLayerNorm(4)),
    ("nn.LayerNorm in float16", nn.LayerNorm(4).half()),
):
    print(f"{name}:", [round(number, 2) for number in norm(x).tolist()])
