import math

import torch

from variants.rotary import rotate

query, key = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
for i, j in (7, 4), (4, 7), (0, 0):
    q, k = rotate(query, torch.tensor([i])), rotate(key, torch.tensor([j]))
    print(f"query at {i}, key at {j}: {(q @ k.T).item():.3f}")
print(f"sin 3: {math.sin(3):.3f}")
