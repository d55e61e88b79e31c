import torch
from torch import nn

x = torch.tensor([1.0, 3, 3, 9])
mean = x.mean()
centered = x - mean
variance = centered.square().mean()  # 9 + 1 + 1 + 25, divided by 4
print("mean:", mean.item())
print("centered:", centered.tolist())
print("variance:", variance.item())
print("standard deviation:", variance.sqrt().item())
y = centered / variance.sqrt()
print("divided:", [round(number, 4) for number in y.tolist()])
z = torch.tensor([1.0, 1, 2, 2]) * y + torch.tensor([0.0, 0, 0, 1])
print("times weight, plus bias:", [round(number, 4) for number in z.tolist()])

norm = nn.LayerNorm(4)
print("nn.LayerNorm:", [round(number, 4) for number in norm(x).tolist()])
