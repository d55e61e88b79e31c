import torch
from torch import nn

torch.manual_seed(0)
n, d_model, d_k = 5, 32, 8  # why do we work ?
x = torch.randn(n, d_model)  # 1. one vector a token
to_query = nn.Linear(in_features=d_model, out_features=d_k, bias=False)
to_key = nn.Linear(in_features=d_model, out_features=d_k, bias=False)
to_value = nn.Linear(in_features=d_model, out_features=d_k, bias=False)

query, key, value = to_query(x), to_key(x), to_value(x)  # 2. (n, d_k) each
scores = query @ key.T / d_k**0.5  # 3. (n, n)
weights = scores.softmax(dim=-1)  # 4. each row sums to 1
output = weights @ value  # 5. (n, d_k)

print("scores and weights:", tuple(weights.shape))
print("output:", tuple(output.shape))
print("row sums:", *(f"{total:.1f}" for total in weights.sum(dim=-1).tolist()))
