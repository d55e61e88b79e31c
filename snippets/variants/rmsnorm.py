import torch
from torch import Tensor, nn


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) * weight, as in nn.RMSNorm.

    Shapes: (..., d_model) -> the same.
    Source: Zhang and Sennrich 2019, equation 4.
    """

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        mean_square = x.square().mean(dim=-1, keepdim=True)  # (..., 1)
        return x * (mean_square + self.eps).rsqrt() * self.weight
