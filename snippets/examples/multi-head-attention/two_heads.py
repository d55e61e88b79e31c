import torch

from heads import heads, x

outputs = []
for w_query, w_key, w_value in heads:
    query, key, value = x @ w_query, x @ w_key, x @ w_value
    weights = (query @ key.T / 2**0.5).softmax(dim=-1)
    print("weights of work:", weights[1])
    outputs.append(weights @ value)  # (3, 2)
joined = torch.cat(outputs, dim=-1)  # (3, 4)
print("joined, work:", joined[1])
