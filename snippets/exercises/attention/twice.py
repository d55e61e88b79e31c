import torch

from transformer import scaled_dot_product_attention

query = torch.tensor([[2.0, 0.0]])  # work
key = torch.tensor([[2.0, 0.0], [2.0, 0.0], [0.0, 2.0], [1.0, -1.0]])
value = torch.tensor([[10.0, 0.0], [10.0, 0.0], [0.0, 10.0], [5.0, 5.0]])
output, weights = scaled_dot_product_attention(query, key, value)
print("weights:", *(f"{w:.3f}" for w in weights[0].tolist()))
print("both copies of we:", f"{weights[0, :2].sum():.3f}")
print("output:", *(f"{x:.2f}" for x in output[0].tolist()))
