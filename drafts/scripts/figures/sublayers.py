"""Figures of the chapter on sublayers."""

import contextlib
import io
import math
from itertools import pairwise

import numpy as np
import torch
from matplotlib.patches import FancyBboxPatch, Rectangle
from matplotlib.ticker import NullLocator

from drawing import FIRST, INK, MUTED, PAPER, SECOND, THIRD, canvas, figure
from transformer import DecoderLayer, EncoderLayer, TransformerConfig

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def powers_of_ten(axis) -> None:
    """Label a logarithmic axis 10⁻², 10⁻¹, …, and leave small ticks out."""
    axis.set_major_formatter(
        lambda value, _: "10" + str(round(math.log10(value))).translate(SUPERSCRIPT)
    )
    axis.set_minor_locator(NullLocator())


def sheet(height: float):
    """An empty drawing whose coordinates are the units of the SVG."""
    fig, ax = canvas(height=height)
    fig.set_layout_engine("none")
    ax.set_position((0, 0, 1, 1))
    ax.set_xlim(0, 520)
    ax.set_ylim(0, height)
    ax.set_axis_off()
    return fig, ax


def box(ax, x: float, y: float, text: str, colour: str, width=118, height=28) -> None:
    """A box with rounded corners around (x, y)."""
    corner = (x - width / 2, y - height / 2)
    style = "round,pad=0,rounding_size=5"
    ax.add_patch(
        FancyBboxPatch(
            corner, width, height, boxstyle=style, edgecolor=colour, facecolor=PAPER, linewidth=1.5
        )
    )
    ax.text(x, y, text, ha="center", va="center")


def arrow(ax, start, end, colour=INK, width=1.2) -> None:
    ax.annotate(
        "",
        xy=end,
        xytext=start,
        arrowprops={
            "arrowstyle": "-|>,head_width=0.22,head_length=0.4",
            "color": colour,
            "linewidth": width,
            "shrinkA": 0,
            "shrinkB": 0,
        },
    )


def plus(ax, x: float, y: float) -> None:
    """The circle in which two roads are added."""
    ax.add_patch(
        FancyBboxPatch(
            (x - 10, y - 10),
            20,
            20,
            boxstyle="round,pad=0,rounding_size=10",
            edgecolor=FIRST,
            facecolor=PAPER,
            linewidth=1.5,
            zorder=3,
        )
    )
    for dx, dy in (5, 0), (0, 5):
        ax.plot([x - dx, x + dx], [y - dy, y + dy], color=FIRST, linewidth=1.5, zorder=4)


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
    fig, ax = sheet(290)
    places = [60 + 100 * i for i in range(5)]
    for x, word in zip(places, label["tokens"].split(), strict=True):
        ax.text(x, 42, word, ha="center", va="center")
        for other in places:
            ax.plot([x, other], [60, 150], color=SECOND, linewidth=1.0, alpha=0.65)
        for y in 60, 150, 252:
            ax.plot(x, y, "o", color=INK, markersize=5)
        arrow(ax, (x, 154), (x, 182), FIRST)
        box(ax, x, 199, label["network"], FIRST, width=56, height=32)
        arrow(ax, (x, 215), (x, 248), FIRST)
    ax.text(260, 14, label["attention"], ha="center", va="center", color=SECOND)
    ax.text(260, 276, label["same"], ha="center", va="center", color=FIRST)
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
        for size, colour in (attention, SECOND), (forward, FIRST), (norms, THIRD):
            ax.barh(y, size, left=start, height=0.52, color=colour, alpha=0.85)
            start += size
        for place, name in (attention / 2, "attention"), (attention + forward / 2, "forward"):
            ax.text(place, y + 0.41, label[name], ha="center", va="center")
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
    with contextlib.redirect_stdout(io.StringIO()):  # it prints when imported
        from examples.sublayers.gradient_road import gradient_norms
    fig, ax = canvas(height=260)
    for add, colour, guess, name in (
        (True, FIRST, 1.32, "sum"),
        (False, SECOND, 0.32, "plain"),
    ):
        depth = np.arange(25)
        ax.semilogy(depth, guess ** (depth / 2), color=MUTED, linewidth=1.2)
        ax.semilogy(depth, gradient_norms(add), "o", color=colour, markersize=4.5)
        ax.text(16, guess**8 * (6 if add else 12), label[name], color=colour, ha="center")
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
    fig, ax = sheet(250)

    def place(number):
        return 150 + 38 * number

    x = np.array([1.0, 3, 3, 9])
    rows = ((205, x, "before"), (125, x - 4, "centred"), (45, (x - 4) / 3, "divided"))
    for (y, values, _), (lower, images, _) in pairwise(rows):
        for value, image in zip(values, images, strict=True):
            ax.plot(
                [place(value), place(image)], [y - 4, lower + 7], color=MUTED, linewidth=1, zorder=0
            )
    for y, values, name in rows:
        ax.plot([20, 500], [y, y], color=MUTED, linewidth=1)
        ax.plot([place(0)] * 2, [y - 5, y + 5], color=MUTED, linewidth=1)
        ax.text(500, y + 20, label[name], ha="right", va="center")
        ax.plot(place(values), [y] * 4, "o", color=FIRST, markersize=7)
        ax.plot(place(values[1]), y + 8, "o", color=FIRST, markersize=7)
        for value in sorted(set(values)):
            text = f"{value:.2f}".rstrip("0").rstrip(".").replace("-", "−")
            side = "right" if text == "−1" and name == "divided" else "center"
            ax.text(place(value), y - 15, text, ha=side, va="center", fontsize=12)
    return fig


@figure(
    en={"left": "mean subtracted", "right": "divided by the deviation"},
    zh={"left": "减去均值", "right": "再除以标准差"},
)
def circle(label):
    fig, axes = canvas(height=275, columns=2)
    x = torch.randn(250, 3, generator=torch.Generator().manual_seed(0))
    centred = (x - x.mean(dim=-1, keepdim=True)).numpy()
    plane = np.array([[1, -1, 0], [1, 1, -2]]) / np.array([[2], [6]]) ** 0.5
    flat = centred @ plane.T  # two coordinates within the plane of mean 0
    radius = np.linalg.norm(flat, axis=1, keepdims=True)
    turn = np.linspace(0, 2 * math.pi, 200)
    for ax, points, title in (
        (axes[0], flat, label["left"]),
        (axes[1], math.sqrt(3) * flat / radius, label["right"]),
    ):
        ring = math.sqrt(3) * np.array([np.sin(turn), np.cos(turn)])
        ax.plot(*ring, color=MUTED, linewidth=1, zorder=0)
        ax.plot(*points.T, "o", color=FIRST, markersize=3, alpha=0.7)
        ax.plot(0, 0, "+", color=INK, markersize=9)
        ax.set_title(title)
        ax.set_aspect("equal")
        ax.set_xlim(-3, 3)
        ax.set_ylim(-3, 3)
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
    fig, ax = sheet(262)
    size, gap = 20, 12
    for panel, name in enumerate(("layer", "wide", "batch")):
        left = 96 + 145 * panel
        ax.text(left + 3 * size, 244, label[name], ha="center", va="center")
        for sentence in range(2):
            for position in range(4):
                y = 205 - size * position - sentence * (4 * size + gap)
                for feature in range(6):
                    here = (sentence, position, feature) == (0, 1, 2)
                    shared = {
                        "layer": (sentence, position) == (0, 1),
                        "wide": sentence == 0,
                        "batch": feature == 2,
                    }[name]
                    square = (left + size * feature, y)
                    ax.add_patch(
                        Rectangle(square, size, size, facecolor="none", edgecolor=MUTED, lw=0.8)
                    )
                    if shared:
                        ax.add_patch(Rectangle(square, size, size, facecolor=FIRST, alpha=0.3))
                    if here:
                        ax.add_patch(Rectangle(square, size, size, facecolor=FIRST))
        ax.text(left + 3 * size, 16, label["features"], ha="center", va="center", fontsize=12)
    for name, y in ("first", 185), ("second", 93):
        ax.text(88, y - 0, label[name], ha="right", va="center", fontsize=12)
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
    for values, colour, name in (x, SECOND, "before"), (y, FIRST, "after"):
        height, _ = np.histogram(values.numpy().ravel(), bins, density=True)
        ax.stairs(height, bins, color=colour, linewidth=1.6, label=label[name])
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
    fig, ax = sheet(520)
    thick = 2.6
    for trunk, branch, kind in (62, 180, "post"), (322, 440, "pre"):
        ax.text((trunk + branch) / 2, 504, label[kind], ha="center", va="center")
        ax.text(trunk, 12, "x", ha="center", va="center", style="italic")
        ends = []  # where the road is cut
        for bottom, sublayer in (40, "attention"), (262, "forward"):
            if kind == "post":
                stops, joint, cut = (sublayer, "dropout"), bottom + 140, bottom + 178
                heights = (bottom + 52, bottom + 98)
                ends.append(cut)
            else:
                stops, joint = ("norm", sublayer, "dropout"), bottom + 178
                heights = (bottom + 44, bottom + 90, bottom + 136)
            ax.plot([trunk, branch], [bottom, bottom], color=INK, linewidth=1.2)
            below = bottom
            for stop, y in zip(stops, heights, strict=True):
                arrow(ax, (branch, below), (branch, y - 14))
                colour = {"norm": THIRD, "dropout": MUTED}.get(stop, SECOND)
                box(ax, branch, y, label[stop], colour, width=116)
                below = y + 14
            ax.plot([branch, branch], [below, joint], color=INK, linewidth=1.2)
            arrow(ax, (branch, joint), (trunk + 11, joint))
            plus(ax, trunk, joint)
        starts = [22, *(cut + 14 for cut in ends)]
        stops_at = [*(cut - 14 for cut in ends), 486]
        for low, high in zip(starts, stops_at, strict=True):
            arrow(ax, (trunk, low), (trunk, high), FIRST, thick)
        for cut in ends:
            box(ax, trunk, cut, label["norm"], THIRD, width=96)
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
    with contextlib.redirect_stdout(io.StringIO()):  # it prints when imported
        from examples.sublayers.gradients_by_layer import gradient_norms
    fig, axes = canvas(height=280, columns=2, sharey=True)
    for name, norm_first, colour, style in (
        ("post", False, SECOND, "s-"),
        ("pre", True, FIRST, "o-"),
    ):
        for ax, row in zip(axes, gradient_norms(norm_first), strict=True):
            ax.semilogy(range(1, 13), row, style, color=colour, markersize=4, label=label[name])
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
