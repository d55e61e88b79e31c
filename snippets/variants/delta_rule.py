# --8<-- [start:recurrent]
"""The gated delta rule: attention with a state of fixed size."""

import torch
from torch import Tensor


def delta_rule(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    log_decay: Tensor,
    beta: Tensor,
    state: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Reads and writes the state token by token; returns outputs and state.

    Shapes: query, key (..., n, d_k), value (..., n, d_v), log_decay (at most 0)
    and beta (..., n), state (..., d_k, d_v), zeros if it is None -> outputs
    (..., n, d_v) and the state after the last token. For n of 1 or more.
    Source: Yang et al. 2024, Gated Delta Networks.
    """
    if state is None:
        state = torch.zeros_like(key[..., :1, :].mT @ value[..., :1, :])
    outputs = []
    for t in range(key.size(-2)):
        now = slice(t, t + 1)
        q, k, v = query[..., now, :], key[..., now, :], value[..., now, :]
        state = log_decay[..., now, None].exp() * state  # forget
        stored = k @ state  # (..., 1, d_v), what this key reads
        state = state + k.mT @ (beta[..., now, None] * (v - stored))
        outputs.append(q @ state)
    return torch.cat(outputs, dim=-2), state


# --8<-- [end:recurrent]
# --8<-- [start:chunked]
def chunked_delta_rule(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    log_decay: Tensor,
    beta: Tensor,
    state: Tensor | None = None,
    chunk_size: int = 64,
) -> tuple[Tensor, Tensor]:
    """Computes what delta_rule does, the tokens of a chunk at the same time.

    Shapes: as delta_rule. Source: Yang et al. 2024, Gated Delta Networks.
    """
    if state is None:
        state = torch.zeros_like(key[..., :1, :].mT @ value[..., :1, :])
    outputs = []
    for start in range(0, key.size(-2), chunk_size):
        now = slice(start, start + chunk_size)
        q, k, v = query[..., now, :], key[..., now, :], value[..., now, :]
        rate = beta[..., now, None]
        total = log_decay[..., now].cumsum(-1)[..., None]  # since the start
        later = torch.ones_like(k @ k.mT, dtype=torch.bool).triu(1)
        ratio = (total - total.mT).masked_fill(later, -torch.inf).exp()
        kept = total.exp()
        changes = torch.linalg.solve_triangular(
            rate * ratio * (k @ k.mT),
            rate * (v - kept * (k @ state)),
            upper=False,
            unitriangular=True,
        )
        outputs.append(kept * (q @ state) + ratio * (q @ k.mT) @ changes)
        last = ratio[..., -1:, :].mT
        state = kept[..., -1:, :] * state + (last * k).mT @ changes
    return torch.cat(outputs, dim=-2), state


# --8<-- [end:chunked]
