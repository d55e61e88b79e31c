import torch

from transformer import MultiHeadAttention

torch.manual_seed(0)
attention = MultiHeadAttention(d_model=32, nhead=4).double()
x = torch.randn(1, 5, 32, dtype=torch.float64)
before = attention(x, x, x)[0]
before.square().sum().backward()
for name in "query", "key", "value":
    largest = getattr(attention, name).bias.grad.abs().max().item()
    print(f"largest gradient of the {name} bias: {abs(round(largest, 2))}")

with torch.no_grad():
    attention.key.bias.add_(100 * torch.randn(32))
print("same output:", torch.allclose(before, attention(x, x, x)[0]))
