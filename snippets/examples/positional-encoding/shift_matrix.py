import torch

from transformer import sinusoidal_positional_encoding


def shift_matrix(k, d):
    M = torch.zeros(d, d, dtype=torch.float64)
    for i in range(d // 2):
        angle = torch.tensor(k / 10000 ** (2 * i / d), dtype=torch.float64)
        sin, cos = angle.sin(), angle.cos()
        pair = slice(2 * i, 2 * i + 2)
        M[pair, pair] = torch.tensor([[cos, sin], [-sin, cos]])
    return M


print("M_1 for d_model = 4:")
for row in shift_matrix(1, 4).tolist():
    print(" ".join(f"{number:8.5f}" for number in row))

table = sinusoidal_positional_encoding(5000, 512).double()
for k in 1, 10, 1000:
    moved = table[:-k] @ shift_matrix(k, 512).T  # every p at once
    error = (moved - table[k:]).abs().max()
    print(f"k = {k}, largest error over {len(moved)} positions: {error:.6f}")
