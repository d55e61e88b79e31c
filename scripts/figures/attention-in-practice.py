"""Figures of the page on attention in practice."""

import json
from pathlib import Path

import numpy as np
from matplotlib.ticker import NullLocator

import transformer
from figures.diagram import ENGLISH, write
from figures.examples import run_example
from figures.style import FIRST, SECOND, THIRD, canvas, figure, signed_image

RESULTS = Path(transformer.__file__).with_name("results")


@figure(
    en={
        "divided": "divided",
        "not divided": "not divided",
        "smaller W_Q": "not divided, small start",
        "never": "never",
        "steps": "steps",
        "rate": "learning rate",
    },
    zh={
        "divided": "缩放",
        "not divided": "不缩放",
        "smaller W_Q": "不缩放，起点小",
        "never": "未达到",
        "steps": "步数",
        "rate": "学习率",
    },
)
def training(label):
    measured = json.loads((RESULTS / "scaling.json").read_text())
    never = 1.1 * measured["steps"]
    runs = [run for run in measured["runs"] if run["layers"] == 0]
    sizes, rates, variants, seeds = (
        list(dict.fromkeys(run[field] for run in runs))
        for field in ("d_k", "rate", "variant", "seed")
    )
    steps = np.array([run["nine of ten after"] or never for run in runs])
    steps = steps.reshape(len(sizes), len(rates), len(variants), len(seeds))
    fig, axes = canvas(height=300, columns=3, sharey=True)
    for ax, d_k, of_size in zip(axes, sizes, steps, strict=True):
        for i, style in enumerate(("o-", "s--", "^:")):
            x, y = np.arange(len(rates)) + 0.2 * (i - 1), of_size[:, i]
            color = (FIRST, SECOND, THIRD)[i]
            ranges = np.stack([y.min(axis=1), y.max(axis=1), np.full(len(y), np.nan)], axis=1)
            ax.plot(np.repeat(x, 3), ranges.flatten(), color=color, linewidth=1)
            ax.plot(x, np.median(y, axis=1), style, color=color, label=label[variants[i]])
        ax.set_title(f"d = {d_k}")
        ax.set_xticks(range(len(rates)), [f"{rate:g}" for rate in rates], rotation=45)
    axes[0].set_yticks([0, 100, 200, 300, never], ["0", "100", "200", "300", label["never"]])
    axes[0].set_ylabel(label["steps"])
    axes[1].set_xlabel(label["rate"])
    handles = axes[0].get_legend_handles_labels()
    fig.legend(*handles, loc="outside upper center", ncols=3, columnspacing=1, handlelength=1.6)
    return fig


@figure(
    en={
        "time": "seconds",
        "memory": "megabytes",
        "length": "tokens",
        "explicit": "explicit",
        "fused": "fused",
    },
    zh={
        "time": "秒",
        "memory": "MB",
        "length": "词元数",
        "explicit": "显式",
        "fused": "融合",
    },
)
def cost(label):
    measured = json.loads((RESULTS / "attention.json").read_text())
    lengths = measured["lengths"]
    fig, axes = canvas(height=280, columns=2)
    for ax, field, unit, name in zip(
        axes, ("seconds", "bytes"), (1, 1e6), ("time", "memory"), strict=True
    ):
        for path, color, style in ("explicit", FIRST, "-"), ("fused", SECOND, "--"):
            values = [value / unit for value in measured[path][field]]
            ax.plot(lengths, values, style, marker="o", markersize=4, color=color)
            is_above = path == "explicit"
            ax.annotate(
                label[path],
                (lengths[-2], values[-2]),
                xytext=(-8, 8) if is_above else (8, -8),
                textcoords="offset points",
                ha="right" if is_above else "left",
                va="center",
                color=color,
            )
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_xticks(lengths[::2], [str(length) for length in lengths[::2]])
        ax.set_title(label[name])
        ax.set_xlabel(label["length"])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_minor_locator(NullLocator())
        ax.grid(axis="y")
    axes[0].set_yticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
    axes[1].set_yticks([10, 100, 1000], ["10", "100", "1000"])
    return fig


@figure(
    en={
        "linear": "one, linear",
        "feed-forward": "one, feed-forward",
        "first": "head 0 of two, linear",
        "second": "head 1 of two, linear",
    },
    zh={
        "linear": "一个头，线性映射",
        "feed-forward": "一个头，前馈网络",
        "first": "0 号头，线性映射",
        "second": "1 号头，线性映射",
    },
)
def neighbors(label):
    trained = run_example("examples/attention-in-practice/two_neighbors.py")["trained"]
    two = trained["linear map", 2][1]
    shown = {
        "linear": trained["linear map", 1][1][0],
        "feed-forward": trained["feed-forward", 1][1][0],
        "first": two[0],
        "second": two[1],
    }
    fig, axes = canvas(height=430, rows=2, columns=2, sharex=True, sharey=True)
    for ax, (name, weights) in zip(axes.flat, shown.items(), strict=True):
        weights = weights.double().numpy().round(2)
        signed_image(ax, weights, 1 / 0.55, aspect="equal")  # background of numbers
        ax.set_title(label[name])
        ax.set_xticks(range(5), ENGLISH, rotation=45)
        ax.set_yticks(range(5), ENGLISH)
        ax.tick_params(length=0, labelsize=13)
        ax.spines[:].set_visible(True)
        for row, column in np.argwhere(weights >= 0.1):
            write(ax, column, row, f"{weights[row, column]:.1f}"[1:], size=12.3)
    return fig
