import torch
from torch import nn

rules = {
    "Xavier-uniform": nn.init.xavier_uniform_,
    "nn.Linear as it comes": lambda w: nn.init.kaiming_uniform_(w, a=5**0.5),
    "N(0, 0.02²)": lambda w: nn.init.normal_(w, std=0.02),
}
torch.manual_seed(0)
for name, fill in rules.items():
    x = torch.randn(1000, 512)
    variances = []
    for _ in range(6):
        x = x @ fill(torch.empty(512, 512)).T
        variances.append(x.var().item())
    print(f"{name}, after one layer: {variances[0]:.2f}")
    print(f"{name}, after six layers: {variances[-1]:.1g}")
