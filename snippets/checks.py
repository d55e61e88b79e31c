"""Six checks of a Transformer, to be copied into any project.

`model(src, tgt)` maps the ids of sources (batch, m) and of targets (batch, n),
batch first, to logits (batch, n, vocabulary). Give the checks two or more
sentences of several tokens. Each raises an AssertionError that explains
what is wrong; a module keeps its weights and its mode.
"""

import copy
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Model = Callable[[Tensor, Tensor], Tensor]


@torch.no_grad()
def evaluate(model: Model, src: Tensor, tgt: Tensor) -> Tensor:
    """The logits in evaluation mode, without dropout."""
    if isinstance(model, nn.Module):
        model = copy.deepcopy(model).eval()
    return model(src, tgt)


def train_step(model, optimizer, src: Tensor, tgt: Tensor, pad: int) -> float:
    """One step with teacher forcing; the loss before it, in nats per token."""
    logits = model(src, tgt[:, :-1]).flatten(0, 1)
    loss = F.cross_entropy(logits, tgt[:, 1:].flatten(), ignore_index=pad)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


# --8<-- [start:checks]
def check_padding_invariance(model, src, tgt, pad=0, tolerance=1e-4):
    """A sentence alone equals the same sentence in a batch with more pads."""
    alone = evaluate(model, src[:1], tgt[:1])
    more = [F.pad(ids, (0, 3), value=pad) for ids in (src, tgt)]
    real = evaluate(model, *more)[:1, : tgt.size(1)]
    change = (real - alone)[tgt[:1] != pad].abs().max()
    assert change < tolerance, f"padding or the batch adds {change:.2g}"


def check_no_peeking(model, src, tgt, tolerance=1e-4):
    """The last target token changes no logits of earlier positions."""
    logits = evaluate(model, src, tgt)[:, :-1]
    changed = torch.cat([tgt[:, :-1], tgt[:, :1]], dim=1)
    change = (evaluate(model, src, changed)[:, :-1] - logits).abs().max()
    assert change < tolerance, f"the future changes the past by {change:.2g}"


def check_past_matters(model, src, tgt, tolerance=1e-4):
    """The last logits depend on the source and on earlier target tokens."""
    past = torch.cat([tgt[:, :-1].roll(1, 1), tgt[:, -1:]], dim=1)
    others = {"src": (src.roll(1, 0), tgt), "tgt": (src, past)}
    for name, ids in others.items():
        change = evaluate(model, *ids) - evaluate(model, src, tgt)
        assert change[:, -1].abs().max() > tolerance, f"{name} has no effect"


def check_overfits_one_batch(model, src, tgt, pad=0, steps=100, lr=3e-3):
    """A copy of the model learns one batch by heart: its loss nears 0."""
    model = copy.deepcopy(model).train()
    optimizer = torch.optim.Adam(model.parameters(), lr)
    losses = [train_step(model, optimizer, src, tgt, pad) for _ in range(steps)]
    assert losses[-1] < 0.2, f"after {steps} steps the loss is {losses[-1]:.2g}"


def check_modes_agree(model, src, tgt, tolerance=1e-4):
    """Without dropout, train() and eval() compute the same logits."""
    model = copy.deepcopy(model)
    for module in model.modules():
        for name in ("p", "dropout"):  # of nn.Dropout, of attention
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)
    change = (model.train()(src, tgt) - model.eval()(src, tgt)).abs().max()
    assert change < tolerance, f"train() and eval() differ by {change:.2g}"


def check_weights_move(model, src, tgt, pad=0):
    """One step of training changes every parameter."""
    model = copy.deepcopy(model).train()
    before = copy.deepcopy(dict(model.named_parameters()))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    train_step(model, optimizer, src, tgt, pad)
    after = model.named_parameters()
    still = [name for name, p in after if torch.equal(p, before[name])]
    assert not still, f"one step leaves as they are: {', '.join(still)}"


# --8<-- [end:checks]
CHECKS = [
    check_padding_invariance,
    check_no_peeking,
    check_past_matters,
    check_overfits_one_batch,
    check_modes_agree,
    check_weights_move,
]


def run_checks(model: nn.Module, src: Tensor, tgt: Tensor) -> dict[str, str]:
    """Run all checks; the name of each that fails, and its message."""
    failed = {}
    for check in CHECKS:
        try:
            check(model, src, tgt)
        except AssertionError as error:
            failed[check.__name__] = str(error)
    return failed
