"""The figure of the page on your own text: short trainings with and without warm-up."""

import json
from pathlib import Path

import transformer
from figures.style import FIRST, INK, MUTED, SECOND, canvas, figure

RESULTS = Path(transformer.__file__).parent / "results"


@figure(
    en={
        "x": "step",
        "y": "validation loss",
        "pre": "pre-norm",
        "post": "post-norm",
        "with": "warm-up",
        "without": "no warm-up",
        "unclipped": "not clipped",
        "guessing": "guessing",
    },
    zh={
        "x": "步",
        "y": "验证集的损失",
        "pre": "前置归一化",
        "post": "后置归一化",
        "with": "有预热",
        "without": "没有预热",
        "unclipped": "不裁剪",
        "guessing": "按频率猜",
    },
)
def warm_up(label):
    runs = json.loads((RESULTS / "own-text.json").read_text(encoding="utf-8"))["short"]
    text = (RESULTS / "own-text-guessing.json").read_text(encoding="utf-8")
    guessing = json.loads(text)["validation loss"]
    fig, axes = canvas(height=320, columns=2, sharey=True)
    for ax, norm_first in zip(axes, (True, False), strict=True):
        for run in runs:
            if run["norm_first"] == norm_first:
                steps = [point["step"] for point in run["curve"]]
                losses = [point["held_out"] for point in run["curve"]]
                color = FIRST if run["warm-up"] else SECOND
                ax.plot(steps, losses, "-" if run["clipping"] else ":", color=color, lw=1.4)
        ax.axhline(guessing, ls="--", color=MUTED, lw=1.4)
        ax.set_title(label["pre" if norm_first else "post"])
        ax.set_ylim(0)
        ax.set_xlabel(label["x"])
        ax.grid(axis="y")
    axes[0].set_ylabel(label["y"])
    for color, style, name in (
        (FIRST, "-", "with"),
        (SECOND, "-", "without"),
        (INK, ":", "unclipped"),
        (MUTED, "--", "guessing"),
    ):
        axes[0].plot([], [], style, color=color, label=label[name])
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig
