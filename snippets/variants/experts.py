# --8<-- [start:gated]
"""Gated feed-forward networks, and a mixture of them."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from variants.swiglu import SwiGLU, gelu_tanh


class GatedFeedForward(SwiGLU):
    """(activation(x W) * x V) W2, the activation being silu or gelu.

    Shapes: (..., d_model) -> the same. Source: Shazeer 2020, section 2.
    """

    def __init__(self, d_model: int, dim_feedforward: int, activation: str):
        super().__init__(d_model, dim_feedforward, 0.0)
        self.activation = {"silu": F.silu, "gelu": gelu_tanh}[activation]

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.activation(self.gate(x)) * self.up(x))


# --8<-- [end:gated]
# --8<-- [start:experts]
class MixtureOfExperts(nn.Module):
    """Each token goes through the top_k experts with the largest weights.

    Shapes: (batch, n, d_model) -> the same. The router's logits of the last
    call, (batch * n, num_experts), are kept for the loss below.
    Source: Shazeer et al. 2017, section 2.1.
    """

    def __init__(
        self, d_model: int, dim_feedforward: int, num_experts: int, top_k: int
    ):
        super().__init__()
        self.top_k = top_k
        self.router = nn.Linear(d_model, num_experts, bias=False)
        self.experts = nn.ModuleList(
            GatedFeedForward(d_model, dim_feedforward, "silu")
            for _ in range(num_experts)
        )
        self.router_logits = torch.empty(0)

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(0, 1)  # (batch * n, d_model)
        weights, chosen = self.choose(tokens)
        out = torch.zeros_like(tokens)
        for i, expert in enumerate(self.experts):
            row, rank = (chosen == i).nonzero(as_tuple=True)
            share = weights[row, rank].unsqueeze(1)  # (rows, 1)
            out = out.index_add(0, row, share * expert(tokens[row]))
        return out.view_as(x)

    def choose(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """The weights and the numbers of the chosen experts.

        Shapes: (tokens, d_model) -> both (tokens, top_k).
        """
        self.router_logits = self.router(tokens)
        weights, chosen = self.router_logits.softmax(dim=-1).topk(self.top_k)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        return weights, chosen


# --8<-- [end:experts]
# --8<-- [start:loss]
def load_balancing_loss(router_logits: Tensor, top_k: int) -> Tensor:
    """experts * sum(fraction of the tokens * mean probability), over experts.

    It is top_k if the probabilities are equal, and larger if some experts
    get more tokens and larger probabilities.
    Shapes: router_logits (tokens, experts), of one layer or of several -> ().
    Source: Fedus et al. 2021, equations 4 to 6.
    """
    probs = router_logits.softmax(dim=-1)  # (tokens, experts)
    chosen = torch.zeros_like(probs).scatter(1, probs.topk(top_k).indices, 1)
    return probs.size(1) * (chosen.mean(dim=0) * probs.mean(dim=0)).sum()


# --8<-- [end:loss]
