"""The vectors of three words, and the matrices of two heads."""

import torch

# a row each for we, work and ?
x = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
head_0 = (
    torch.tensor([[-1.0, 1.0], [1.0, 0.0], [1.0, 0.0]]),  # W^Q
    torch.tensor([[1.0, -3.0], [-1.0, -1.0], [1.0, 3.0]]),  # W^K
    torch.tensor([[5.0, -5.0], [-5.0, 5.0], [5.0, 5.0]]),  # W^V
)
head_1 = (
    torch.tensor([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]),
    torch.tensor([[2.0, 0.0], [2.0, 1.0], [-2.0, -1.0]]),
    torch.tensor([[6.0, -4.0], [6.0, 0.0], [-6.0, 2.0]]),
)
heads = [head_0, head_1]
