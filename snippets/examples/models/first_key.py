import torch
import torch.nn.functional as F

values = torch.tensor([[1.0], [2.0], [3.0]])  # three tokens of a cache
keys, query = torch.zeros(3, 1), torch.zeros(1, 1)  # equal scores
attend = F.scaled_dot_product_attention
print("no mask:", attend(query, keys, values).item())
print("is_causal:", attend(query, keys, values, is_causal=True).item())
