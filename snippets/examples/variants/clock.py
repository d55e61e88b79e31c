import math

import torch

from variants.rotary import rotate

query = torch.tensor([[1.0, 0.0]])
key = torch.tensor([[1.0, 0.0]])
for i, j in (3, 1), (10, 8), (1002, 1000), (1, 3), (1, 1):
    q, k = rotate(query, torch.tensor([i])), rotate(key, torch.tensor([j]))
    print(f"query at {i}, key at {j}: {(q @ k.T).item():.3f}")
print(f"cos 2: {math.cos(2):.3f}")
