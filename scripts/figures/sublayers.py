"""Figures of the chapter on sublayers."""

import contextlib
import io
import math
from itertools import pairwise

import numpy as np
import torch
from matplotlib.patches import Circle

from figures.diagram import arrow, blank_canvas, box, fill_cells, grid, line, write
from figures.style import FIRST, INK, MUTED, PAPER, SECOND, THIRD, canvas, figure, powers_of_ten
from transformer import DecoderLayer, EncoderLayer, TransformerConfig


def plus(ax, x: float, y: float) -> None:
    """The circle of an addition at (x, y)."""
    ax.add_patch(Circle((x, y), 10, edgecolor=FIRST, facecolor=PAPER, linewidth=1.5, zorder=3))
    line(ax, (x - 5, y), (x + 5, y), color=FIRST, width=1.5, zorder=4)
    line(ax, (x, y - 5), (x, y + 5), color=FIRST, width=1.5, zorder=4)


@figure(
    en={
        "tokens": "why do we work ?",
        "attention": "attention: everyone with everyone",
        "network": "FFN",
        "same": "feed-forward: each alone, all by the same weights",
    },
    zh={
        "tokens": "why do we work ?",
        "attention": "注意力：人人都和人人交流",
        "network": "FFN",
        "same": "前馈网络：各算各的，用的是同一组权重",
    },
)
def position_wise(label):
    fig, ax = blank_canvas(290)
    xs = [60 + 100 * i for i in range(5)]
    write(ax, 260, 14, label["same"], FIRST)
    write(ax, 260, 276, label["attention"], SECOND)
    for x, word in zip(xs, label["tokens"].split(), strict=True):
        write(ax, x, 248, word)
        for other in xs:
            line(ax, (x, 230), (other, 140), color=SECOND, width=1, alpha=0.65)
        arrow(ax, (x, 136), (x, 107), color=FIRST)
        box(ax, x - 28, 75, 56, 32, FIRST, label["network"])
        arrow(ax, (x, 75), (x, 42), color=FIRST)
    for y in 230, 140, 38:
        ax.plot(xs, [y] * 5, "o", color=INK, markersize=5, clip_on=False)
    return fig


@figure(
    en={
        "encoder": "encoder layer",
        "decoder": "decoder layer",
        "attention": "attention",
        "forward": "feed-forward",
        "x": "parameters, in millions",
    },
    zh={
        "encoder": "编码器的一层",
        "decoder": "解码器的一层",
        "attention": "注意力",
        "forward": "前馈网络",
        "x": "参数（百万个）",
    },
)
def shares(label):
    fig, ax = canvas(height=190)
    config = TransformerConfig(src_vocab_size=9, tgt_vocab_size=12)
    for y, layer in (1, EncoderLayer(config)), (0, DecoderLayer(config)):
        millions = {
            name: sum(p.numel() for p in part.parameters()) / 1e6
            for name, part in layer.named_children()
        }
        forward, norms = millions.pop("feed_forward"), millions.pop("residuals")
        attention = sum(millions.values())
        start = 0.0
        for size, color in (attention, SECOND), (forward, FIRST), (norms, THIRD):
            ax.barh(y, size, left=start, height=0.52, color=color, alpha=0.85)
            start += size
        for x, name in (attention / 2, "attention"), (attention + forward / 2, "forward"):
            write(ax, x, y + 0.41, label[name])
    ax.set_yticks([1, 0], [label["encoder"], label["decoder"]])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(-0.4, 1.6)
    ax.set_xlabel(label["x"])
    return fig


@figure(
    en={
        "x": "sublayers below the output",
        "y": "gradient norm",
        "plain": "f(x)",
        "sum": "x + f(x)",
    },
    zh={
        "x": "从输出往下数的子层数",
        "y": "梯度的范数",
        "plain": "f(x)",
        "sum": "x + f(x)",
    },
)
def gradient_road(label):
    with contextlib.redirect_stdout(io.StringIO()):  # the example prints when imported
        from examples.sublayers.gradient_road import gradient_norms
    fig, ax = canvas(height=260)
    for add, color, guess, name in (
        (True, FIRST, 1.32, "sum"),
        (False, SECOND, 0.32, "plain"),
    ):
        depth = np.arange(25)
        ax.semilogy(depth, guess ** (depth / 2), color=MUTED, linewidth=1.2)
        ax.semilogy(depth, gradient_norms(add), "o", color=color, markersize=4.5)
        ax.text(16, guess**8 * (6 if add else 12), label[name], color=color, ha="center")
    ax.set_xlim(-0.5, 24.5)
    ax.set_ylim(3e-7, 3e3)
    powers_of_ten(ax.yaxis)
    ax.set_xlabel(label["x"])
    ax.set_ylabel(label["y"])
    ax.grid(axis="y")
    return fig


@figure(
    en={
        "before": "x",
        "centred": "minus the mean, 4",
        "divided": "divided by the deviation, 3",
    },
    zh={
        "before": "x",
        "centred": "减去均值 4",
        "divided": "再除以标准差 3",
    },
)
def shift_and_shrink(label):
    fig, ax = blank_canvas(250)

    def to_x(number):
        return 150 + 38 * number

    x = np.array([1.0, 3, 3, 9])
    rows = ((45, x, "before"), (125, x - 4, "centred"), (205, (x - 4) / 3, "divided"))
    for (y, values, _), (lower, images, _) in pairwise(rows):
        for value, image in zip(values, images, strict=True):
            ends = (to_x(value), y + 4), (to_x(image), lower - 7)
            line(ax, *ends, width=1, zorder=0)
    for y, values, name in rows:
        line(ax, (20, y), (500, y), width=1)
        line(ax, (to_x(0), y - 5), (to_x(0), y + 5), width=1)
        write(ax, 500, y - 20, label[name], ha="right")
        dots = {"color": FIRST, "markersize": 7, "clip_on": False}
        ax.plot([*to_x(values), to_x(values[1])], [*[y] * 4, y - 8], "o", **dots)
        for value in sorted(set(values)):
            text = f"{value:.2f}".rstrip("0").rstrip(".").replace("-", "−")
            side = "right" if text == "−1" and name == "divided" else "center"
            paper = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}
            write(ax, to_x(value), y + 15, text, ha=side, size=12, bbox=paper)
    return fig


@figure(
    en={"left": "mean subtracted", "right": "divided by the deviation"},
    zh={"left": "减去均值", "right": "再除以标准差"},
)
def circle(label):
    fig, axes = canvas(height=290, columns=2)
    x = torch.randn(120, 3, generator=torch.Generator().manual_seed(0))
    centred = (x - x.mean(dim=-1, keepdim=True)).numpy()
    plane = np.array([[1, -1, 0], [1, 1, -2]]) / np.array([[2], [6]]) ** 0.5
    flat = centred @ plane.T  # two coordinates within the plane of mean 0
    radius = np.linalg.norm(flat, axis=1, keepdims=True)
    for ax, points, title in (
        (axes[0], flat, label["left"]),
        (axes[1], math.sqrt(3) * flat / radius, label["right"]),
    ):
        ax.add_patch(Circle((0, 0), math.sqrt(3), fill=False, edgecolor=MUTED, zorder=0))
        ax.plot(*points.T, "o", color=FIRST, markersize=4.5, markeredgewidth=0, alpha=0.7)
        ax.plot(0, 0, "+", color=INK, markersize=9)
        write(ax, 0, 4.0, title)
        ax.set_aspect("equal")
        ax.set_xlim(-3.75, 3.75)
        ax.set_ylim(-3.5, 4.3)
        ax.set_axis_off()
    return fig


@figure(
    en={
        "features": "features →",
        "first": "sentence 1",
        "second": "sentence 2",
        "layer": "LayerNorm",
        "wide": "positions too",
        "batch": "BatchNorm",
    },
    zh={
        "features": "特征 →",
        "first": "第 1 句",
        "second": "第 2 句",
        "layer": "层归一化",
        "wide": "连位置一起",
        "batch": "批归一化",
    },
)
def which_axis(label):
    fig, ax = blank_canvas(262)
    size, gap, top = 20, 12, 37
    for panel, name in enumerate(("layer", "wide", "batch")):
        left = 96 + 145 * panel
        write(ax, left + 3 * size, 18, label[name])
        token, shared = np.zeros((2, 2, 4, 6))  # sentence, position, feature
        token[0, 1, 2] = 1
        shared[{"layer": (0, 1), "wide": 0, "batch": (..., 2)}[name]] = 1
        for sentence, y in enumerate((top, top + 4 * size + gap)):
            fill_cells(ax, left, y, shared[sentence], size, FIRST, 0.3)
            fill_cells(ax, left, y, token[sentence], size, FIRST)
            grid(ax, left, y, 4, 6, size)
        write(ax, left + 3 * size, 246, label["features"], size=12)
    write(ax, 88, top + 2 * size, label["first"], ha="right", size=12)
    write(ax, 88, top + 6 * size + gap, label["second"], ha="right", size=12)
    return fig


@figure(
    en={
        "x": "value of a feature",
        "before": "before",
        "after": "after",
        "bell": "normal distribution",
    },
    zh={
        "x": "特征的取值",
        "before": "归一化之前",
        "after": "归一化之后",
        "bell": "正态分布",
    },
)
def skew(label):
    fig, ax = canvas(height=260)
    x = torch.empty(1000, 512).exponential_(generator=torch.Generator().manual_seed(0))
    y = torch.nn.functional.layer_norm(x, (512,))
    bins = np.linspace(-3, 7, 101)
    for values, color, name in (x, SECOND, "before"), (y, FIRST, "after"):
        height, _ = np.histogram(values.numpy().ravel(), bins, density=True)
        ax.stairs(height, bins, color=color, linewidth=1.6, label=label[name])
    line = np.linspace(-3, 7, 200)
    bell = np.exp(-(line**2) / 2) / math.sqrt(2 * math.pi)
    ax.plot(line, bell, color=MUTED, linestyle=(0, (4, 2)), linewidth=1.4, label=label["bell"])
    ax.set_xlim(-3, 5)
    ax.set_ylim(0, 1.05)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(label["x"])
    ax.legend(loc="upper right")
    return fig


@figure(
    en={
        "post": "post-norm",
        "pre": "pre-norm",
        "attention": "attention",
        "forward": "feed-forward",
        "dropout": "dropout",
        "norm": "LayerNorm",
    },
    zh={
        "post": "后置归一化",
        "pre": "前置归一化",
        "attention": "注意力",
        "forward": "前馈网络",
        "dropout": "dropout",
        "norm": "层归一化",
    },
)
def two_arrangements(label):
    fig, ax = blank_canvas(520)
    for trunk, branch, kind in (62, 180, "post"), (322, 440, "pre"):
        write(ax, (trunk + branch) / 2, 16, label[kind])
        write(ax, trunk, 508, "x", style="italic")
        cuts = []  # ends of the trunk's pieces
        for bottom, sublayer in (480, "attention"), (258, "forward"):
            if kind == "post":
                stops, joint = (sublayer, "dropout"), bottom - 140
                heights = (bottom - 52, bottom - 98)
                cuts.append(bottom - 178)
            else:
                stops, joint = ("norm", sublayer, "dropout"), bottom - 178
                heights = (bottom - 44, bottom - 90, bottom - 136)
            line(ax, (trunk, bottom), (branch, bottom), color=INK)
            below = bottom
            for stop, y in zip(stops, heights, strict=True):
                arrow(ax, (branch, below), (branch, y + 14), color=INK)
                color = {"norm": THIRD, "dropout": MUTED}.get(stop, SECOND)
                box(ax, branch - 58, y - 14, 116, 28, color, label[stop])
                below = y - 14
            arrow(ax, (branch, below), (branch, joint), (trunk + 11, joint), color=INK)
            plus(ax, trunk, joint)
        starts = [498, *(cut - 14 for cut in cuts)]
        tips = [*(cut + 14 for cut in cuts), 34]
        for start, tip in zip(starts, tips, strict=True):
            arrow(ax, (trunk, start), (trunk, tip), color=FIRST, width=2.6)
        for cut in cuts:
            box(ax, trunk - 48, cut - 14, 96, 28, THIRD, label["norm"])
    return fig


@figure(
    en={
        "x": "layer",
        "y": "gradient norm",
        "encoder": "encoder",
        "decoder": "decoder",
        "post": "post-norm",
        "pre": "pre-norm",
    },
    zh={
        "x": "第几层",
        "y": "梯度的范数",
        "encoder": "编码器",
        "decoder": "解码器",
        "post": "后置归一化",
        "pre": "前置归一化",
    },
)
def gradients_by_layer(label):
    with contextlib.redirect_stdout(io.StringIO()):  # the example prints when imported
        from examples.sublayers.gradients_by_layer import gradient_norms
    fig, axes = canvas(height=280, columns=2, sharey=True)
    for name, norm_first, color, style in (
        ("post", False, SECOND, "s-"),
        ("pre", True, FIRST, "o-"),
    ):
        for ax, row in zip(axes, gradient_norms(norm_first), strict=True):
            ax.semilogy(range(1, 13), row, style, color=color, markersize=4, label=label[name])
    for ax, name in zip(axes, ("encoder", "decoder"), strict=True):
        ax.set_title(label[name])
        ax.set_xticks([1, 4, 8, 12])
        ax.set_ylim(5e-3, 1)
        powers_of_ten(ax.yaxis)
        ax.set_xlabel(label["x"])
        ax.grid(axis="y")
    axes[0].set_ylabel(label["y"])
    axes[1].legend(loc="lower right")
    return fig
