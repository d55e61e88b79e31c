import torch


def shift_matrix(k, d=8):
    frequency = 10000 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    sin, cos = (k * frequency).sin(), (k * frequency).cos()
    blocks = torch.stack([cos, sin, -sin, cos], dim=1).view(-1, 2, 2)
    return torch.block_diag(*blocks)


M_2, M_3, M_5 = shift_matrix(2), shift_matrix(3), shift_matrix(5)
print("M_2 M_3 = M_5:", torch.allclose(M_2 @ M_3, M_5))
print("M_3 M_2 = M_5:", torch.allclose(M_3 @ M_2, M_5))
print("M_-3 = M_3 transposed:", torch.allclose(shift_matrix(-3), M_3.T))
print("M_3 keeps lengths:", torch.allclose(M_3.T @ M_3, shift_matrix(0)))
