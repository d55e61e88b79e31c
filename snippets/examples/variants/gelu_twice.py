import torch
import torch.nn.functional as F

from variants.swiglu import gelu, gelu_tanh

x = torch.linspace(-6, 6, 12001, dtype=torch.float64)
apart = (gelu(x) - gelu_tanh(x)).abs()
print("gelu is F.gelu:", gelu(x).allclose(F.gelu(x)))
theirs = F.gelu(x, approximate="tanh")
print("gelu_tanh is F.gelu's tanh:", gelu_tanh(x).allclose(theirs))
print(f"furthest apart: {apart.max():.4f}")
print(f"at x: {abs(x[apart.argmax()]):.1f}")
lowest = gelu(x).argmin()
print(f"lowest value: {gelu(x)[lowest]:.2f}")
print(f"lowest at: {x[lowest]:.2f}")
