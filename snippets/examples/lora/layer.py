import torch
from torch import nn

from variants.lora import LoRALinear

torch.manual_seed(0)
linear = nn.Linear(576, 576, bias=False)
x = torch.randn(5, 576)
before = linear(x)

layer = LoRALinear(linear, rank=4, alpha=4)
trained = sum(w.numel() for w in layer.parameters() if w.requires_grad)
print(f"numbers in W: {linear.weight.numel():,}")
print(f"numbers in A and B: {trained:,}")
print("equal at the start:", torch.equal(layer(x), before))

nn.init.normal_(layer.B)
changed = layer(x)
merged = layer.merge()
print("equal after merging:", torch.allclose(merged(x), changed, atol=1e-4))
