# --8<-- [start:gelu]
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer import FeedForward


def gelu(x: Tensor) -> Tensor:
    """x times the share of a normal distribution that lies below x.

    Source: Hendrycks and Gimpel 2016, section 2.
    """
    return x * (1 + torch.erf(x / math.sqrt(2))) / 2


def gelu_tanh(x: Tensor) -> Tensor:
    """Nearly the same, as BERT and GPT-2 compute it.

    Source: Hendrycks and Gimpel 2016, section 2.
    """
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return x * (1 + inner.tanh()) / 2


class GELUFeedForward(FeedForward):
    """FeedForward with GELU in place of ReLU: GELU(x W1 + b1) W2 + b2."""

    def forward(self, x: Tensor) -> Tensor:
        hidden = gelu(self.linear1(x))  # (batch, position, dim_feedforward)
        return self.linear2(self.dropout(hidden))


# --8<-- [end:gelu]
# --8<-- [start:swiglu]
class SwiGLU(nn.Module):
    """(SiLU(x W) * x V) W2, without biases.

    Shapes: (batch, position, d_model) -> the same.
    Source: Shazeer 2020, equation 6.
    """

    def __init__(
        self, d_model: int, dim_feedforward: int, dropout: float = 0.1
    ):
        super().__init__()
        self.gate = nn.Linear(d_model, dim_feedforward, bias=False)  # W
        self.up = nn.Linear(d_model, dim_feedforward, bias=False)  # V
        self.down = nn.Linear(dim_feedforward, d_model, bias=False)  # W2
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        hidden = F.silu(self.gate(x)) * self.up(x)  # (..., dim_feedforward)
        return self.down(self.dropout(hidden))


# --8<-- [end:swiglu]
