import torch

from variants.rotary import rotate

torch.manual_seed(0)
query, key = torch.randn(1, 8), torch.randn(1, 8)


def score(i, j):
    """The query at position i, the key at position j."""
    q = rotate(query, torch.tensor([i]))
    k = rotate(key, torch.tensor([j]))
    return (q @ k.T).item()


for i, j in (3, 1), (10, 8), (1, 3):
    print(f"query at {i}, key at {j}: {score(i, j):.4f}")
