#!/usr/bin/env python3
"""The second experiment of variants.py, position by position, and a layer of ALiBi heads, fitted.

The rotary models are those of the stored runs: each is trained again with its seed and rate, and
measured at every position of texts of 40 tokens.
A layer of eight ALiBi heads with equal content scores has nine numbers: one for each head, and
one for the token itself. They are fitted to name the third token back, in float64 with L-BFGS.
Writes snippets/results/variants-positions.json.
"""

import json
import runpy
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from bookbuild.pages import fresh
from variants.alibi import alibi_bias

EXPERIMENT = Path(__file__).with_name("variants.py")
variants = runpy.run_path(str(EXPERIMENT))

RESULTS = variants["SNIPPETS"] / "results" / "variants-positions.json"
LENGTH = 40
TEXTS = 1000
NHEAD = 8


def by_position(seed: int, rate: float) -> dict[str, list[float]]:
    """Of the two rotary models of a run: the fraction correct at each position of LENGTH tokens,
    except the first ones, which have no answer; and the weights of the last query at each
    distance, as means over heads and texts.
    """
    models = []

    def recorded() -> torch.nn.Module:
        models.append(variants["ONE_LAYER"]["rotary"]())
        return models[-1]

    makers = variants["back"].__globals__["ONE_LAYER"]
    makers["recorded"] = recorded
    variants["back"]("recorded", seed, rate)
    del makers["recorded"]
    found = {}
    for distance, model in zip(variants["BACK"], models, strict=True):
        torch.manual_seed(seed)
        ids = torch.randint(10, (TEXTS, LENGTH))
        with torch.no_grad():
            same = model(ids)[:, distance:].argmax(dim=-1) == ids[:, :-distance]
            x, mask = model.embedding(ids), variants["causal_mask"](LENGTH)
            weights = model.attention(x, x, x, mask, need_weights=True)[1]
            by_distance = weights[:, :, -1].mean(dim=(0, 1)).flip(0).tolist()
        found[f"{distance} back"] = [round(share, 4) for share in same.float().mean(0).tolist()]
        found[f"{distance} back, weights"] = [round(weight, 4) for weight in by_distance]
    return found


def average_of_heads(ids: Tensor) -> Tensor:
    """What each ALiBi head averages with equal content scores, and the token itself.

    Of one-hot tokens; (batch, n) -> (nhead + 1, batch, n, 10).
    """
    n = ids.size(1)
    bias = alibi_bias(n, NHEAD)[0].double()
    later = torch.ones(n, n).triu(1).bool()
    weights = bias.masked_fill(later, -torch.inf).softmax(dim=-1)
    one_hot = F.one_hot(ids, 10).double()
    averages = torch.einsum("hij,bjv->hbiv", weights, one_hot)
    return torch.cat([averages, one_hot[None]])


def fitted_heads(distance: int, length: int = 20) -> dict[str, Any]:
    """The factors of the heads and of the token, and the fraction correct on new texts."""
    torch.manual_seed(0)
    factors = torch.zeros(NHEAD + 1, dtype=torch.float64, requires_grad=True)
    ids, new = torch.randint(10, (500, length)), torch.randint(10, (TEXTS, length))
    averages = average_of_heads(ids)[:, :, distance:]
    optimizer = torch.optim.LBFGS(
        [factors],
        max_iter=2000,
        history_size=50,
        line_search_fn="strong_wolfe",
        tolerance_change=1e-14,
        tolerance_grad=1e-10,
    )

    def closure() -> Tensor:
        optimizer.zero_grad()
        logits = torch.einsum("h,hbiv->biv", factors, averages)
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, :-distance].flatten())
        loss.backward()
        return loss

    optimizer.step(closure)
    factors = factors.detach()
    logits = torch.einsum("h,hbiv->biv", factors, average_of_heads(new)[:, :, distance:])
    correct = (logits.argmax(dim=-1) == new[:, :-distance]).double().mean().item()
    return {"factors": [round(each, 1) for each in factors.tolist()], "correct": round(correct, 3)}


def key() -> str:
    """Of the rotary and ALiBi runs of variants.py, and of this file."""
    code = variants["translator"].code_only(Path(__file__).read_text("utf-8"))
    keys = [variants["key_of_back"](name) for name in ("rotary", "ALiBi")]
    return fresh.hash_texts([*keys, code])


def main() -> None:
    torch.set_num_threads(1)
    stored = json.loads(variants["RESULTS"].read_text("utf-8"))
    rate = stored["best"]["back"]["rotary"]
    seeds = sorted(
        run["seed"]
        for run in stored["runs"]
        if (run["task"], run["variant"], run["rate"]) == ("back", "rotary", rate)
    )
    runs = [{"seed": seed, **by_position(seed, rate)} for seed in seeds]
    fitted = fitted_heads(max(variants["BACK"]))
    guessing = 1 / variants["ONE_LAYER"]["rotary"]().output.out_features
    result = {"key": key(), "rate": rate, "guessing": guessing, "runs": runs, "fitted": fitted}
    lines = json.dumps(result)
    for start in ('{"seed"', '"fitted"'):
        lines = lines.replace(f", {start}", f",\n{start}")
    RESULTS.write_text(f"{lines}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
