# --8<-- [start:advantages]
"""Reinforcement learning with rewards that a program computes."""

import torch
from torch import Tensor, nn


def group_advantages(rewards: Tensor) -> Tensor:
    """How much better each answer is than its group: (r - mean) / std.

    Shapes: (groups, answers) -> the same.
    Source: Shao et al. 2024, section 4.1.
    """
    std, mean = torch.std_mean(rewards, dim=1, correction=0, keepdim=True)
    return (rewards - mean) / (std + 1e-6)


# --8<-- [end:advantages]
# --8<-- [start:sample]
@torch.no_grad()
def sample(model: nn.Module, prompts: Tensor, tokens: int) -> Tensor:
    """Answers drawn from the model: (batch, m) -> (batch, tokens)."""
    ids = prompts
    for _ in range(tokens):
        probs = model(ids)[:, -1].softmax(dim=-1)
        ids = torch.cat([ids, torch.multinomial(probs, 1)], dim=1)
    return ids[:, prompts.size(1) :]


# --8<-- [end:sample]
# --8<-- [start:loss]
def policy_loss(
    model: nn.Module, prompts: Tensor, answers: Tensor, advantages: Tensor
) -> Tensor:
    """Its gradient makes tokens of good answers likelier, of bad ones less.

    Shapes: prompts (batch, m), answers (batch, n), advantages (batch,).
    """
    ids = torch.cat([prompts, answers], dim=1)
    logits = model(ids[:, :-1])[:, prompts.size(1) - 1 :]
    log_probs = logits.log_softmax(dim=-1)  # (batch, n, vocab_size)
    chosen = log_probs.gather(-1, answers.unsqueeze(-1)).squeeze(-1)
    return -(advantages.unsqueeze(1) * chosen).mean()


# --8<-- [end:loss]
