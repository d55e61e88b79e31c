import torch

from transformer import MultiHeadAttention

torch.manual_seed(0)
attention = MultiHeadAttention(d_model=512, nhead=8)
x = torch.randn(2, 5, 512)  # two sentences of five tokens

output, weights = attention(query=x, key=x, value=x, need_weights=True)
print("weights, a table for each head:", tuple(weights.shape))
print("output:", tuple(output.shape))
count = sum(parameter.numel() for parameter in attention.parameters())
print(f"parameters: {count:,}")
