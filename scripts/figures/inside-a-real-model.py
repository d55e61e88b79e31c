"""Figures of the page that looks inside a real model."""

import json
from pathlib import Path

import transformer
from figures.style import FIRST, MUTED, SECOND, canvas, figure, signed_image

RESULTS = Path(transformer.__file__).parent / "results" / "inside.json"


def measured() -> dict:
    return json.loads(RESULTS.read_text(encoding="utf-8"))


@figure(en={"layer": "layer", "head": "head"}, zh={"layer": "层", "head": "头"})
def scores(label):
    """The induction score of every head: the deeper, the higher."""
    values = measured()["induction"]["scores"]
    fig, ax = canvas(height=170)
    signed_image(ax, list(zip(*values, strict=True)))
    ax.set_xticks(range(0, len(values), 5))
    ax.set_yticks(range(0, len(values[0]), 2))
    ax.set_xlabel(label["layer"])
    ax.set_ylabel(label["head"])
    ax.spines[:].set_visible(True)
    return fig


@figure(
    en={
        "layer": "layer",
        "share": "fraction of attention",
        "first": "first token",
        "equal": "equal weights",
    },
    zh={"layer": "层", "share": "所占注意力", "first": "第一个词元", "equal": "权重相等"},
)
def sinks(label):
    found = measured()["sinks"]
    fig, ax = canvas(height=200)
    ax.plot(found["first"], "o-", color=FIRST, markersize=4, label=label["first"])
    ax.axhline(found["equal"], color=SECOND, linestyle="--", label=label["equal"])
    ax.set_ylim(0, 1)
    ax.set_xlabel(label["layer"])
    ax.set_ylabel(label["share"])
    ax.grid()
    ax.legend()
    return fig


@figure(
    en={"layers": "layers passed", "share": "same token as at the end"},
    zh={"layers": "已经过的层数", "share": "与最后的词元相同"},
)
def agreement(label):
    shares = measured()["lens"]["agreement"]
    fig, ax = canvas(height=200)
    ax.plot(shares, "o-", color=FIRST, markersize=4)
    ax.axhline(0.5, color=MUTED, linewidth=0.8)
    ax.set_ylim(0, 1.03)
    ax.set_xlabel(label["layers"])
    ax.set_ylabel(label["share"])
    ax.grid()
    return fig
