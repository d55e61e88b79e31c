"""The mixture of experts of DeepSeek-V3."""

import torch
from torch import Tensor

from variants.experts import GatedFeedForward, MixtureOfExperts


# --8<-- [start:deepseek_experts]
class DeepSeekExperts(MixtureOfExperts):
    """A shared expert for every token, and top_k experts that are chosen.

    The experts are in groups of equal size. A token chooses top_groups of
    them first, and then its experts among these groups only.
    Shapes: (batch, n, d_model) -> the same.
    Source: DeepSeek-AI 2024, section 2.1.2.
    """

    def __init__(
        self,
        d_model: int = 7168,  # the defaults are those of DeepSeek-V3
        dim_feedforward: int = 2048,
        num_experts: int = 256,
        top_k: int = 8,
        num_groups: int = 8,
        top_groups: int = 4,
        scale: float = 2.5,  # of the sum of the chosen experts
    ):
        super().__init__(d_model, dim_feedforward, num_experts, top_k)
        self.num_groups, self.top_groups = num_groups, top_groups
        self.scale = scale
        self.shared = GatedFeedForward(d_model, dim_feedforward, "silu")
        self.register_buffer("bias", torch.zeros(num_experts))

    def forward(self, x: Tensor) -> Tensor:
        return self.shared(x) + super().forward(x)

    def choose(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        self.router_logits = self.router(tokens)
        scores = self.router_logits.sigmoid()  # (tokens, num_experts)
        biased = (scores + self.bias).unflatten(1, (self.num_groups, -1))
        groups = biased.topk(2).values.sum(dim=-1)  # (tokens, num_groups)
        best = groups.topk(self.top_groups).indices
        closed = torch.ones_like(groups).scatter(1, best, 0).bool()
        biased = biased.masked_fill(closed.unsqueeze(2), -torch.inf)
        chosen = biased.flatten(1).topk(self.top_k).indices
        weights = scores.gather(1, chosen)  # without the bias
        weights = weights / weights.sum(dim=-1, keepdim=True)
        return self.scale * weights, chosen

    def update_bias(self, chosen: Tensor, speed: float = 0.001) -> None:
        """Raise the bias where the load is below the mean, lower it elsewhere.

        Shapes: chosen (tokens, top_k), of all tokens of the step.
        """
        load = chosen.flatten().bincount(minlength=self.bias.numel()).double()
        self.bias += speed * torch.sign(load.mean() - load)


# --8<-- [end:deepseek_experts]
