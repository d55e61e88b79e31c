"""Figures of the chapter on positional encoding."""

import itertools
import math

import numpy as np
from matplotlib.patches import Circle
from matplotlib.ticker import NullLocator

from figures.diagram import blank_canvas, write
from figures.style import (
    FIRST,
    INK,
    MUTED,
    SECOND,
    THIRD,
    canvas,
    figure,
    signed_image,
)
from transformer import sinusoidal_positional_encoding


def draw_dial(ax, title: str) -> None:
    """A unit circle with the sine to the right and the cosine upwards."""
    ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor=MUTED))
    ax.set_title(title)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_xlim(-1.6, 1.6)
    ax.set_ylim(-1.4, 1.4)


def draw_hand(ax, angle: float, color: str, text: str = "", text_radius=1.24) -> None:
    """A clock hand with this angle, and a text beyond its end."""
    sin, cos = math.sin(angle), math.cos(angle)
    ax.plot([0, sin], [0, cos], "o-", color=color, markersize=4, markevery=[1])
    write(ax, text_radius * sin, (text_radius - 0.05) * cos, text)


@figure(
    en={"position": "position {}", "fast": "fast", "slow": "slow"},
    zh={"position": "位置 {}", "fast": "快针", "slow": "慢针"},
)
def clocks(label):
    fig, ax = blank_canvas(300)
    radius = 34
    for i, p in enumerate((0, 1, 2, 44)):
        x = 118 + 114 * i
        write(ax, x, 14, label["position"].format(p), size=16)
        for y, angle in ((70, p), (210, p / 100)):
            sin, cos = math.sin(angle), math.cos(angle)
            ax.add_patch(Circle((x, y), radius, fill=False, edgecolor=MUTED))
            ax.plot([x, x + radius * sin], [y, y - radius * cos], color=FIRST)
            ax.plot(x + radius * sin, y - radius * cos, "o", color=FIRST, markersize=5)
            numbers = f"{sin:.2f}, {cos:.2f}".replace("-", "−")
            write(ax, x, y + radius + 18, numbers, size=16)
    for y, name in ((70, "fast"), (210, "slow")):
        write(ax, 4, y, label[name], ha="left", size=16)
    return fig


@figure(
    en={"x": "position p", "1": "ones", "2": "twos", "4": "fours"},
    zh={"x": "位置 p", "1": "最低位", "2": "中间位", "4": "最高位"},
)
def counter(label):
    fig, axes = canvas(height=220, rows=3, sharex=True)
    fine = np.linspace(0, 8, 161)
    for bit, ax in enumerate(axes):
        for p in range(8):
            digit = (p >> bit) & 1
            if digit:
                ax.axvspan(p, p + 1, color=SECOND, alpha=0.25, linewidth=0)
            write(ax, p + 0.5, 0.5, str(digit))
        wave = 0.5 - 0.5 * np.sin(math.pi * fine / 2**bit)
        ax.plot(fine, wave, color=FIRST)
        ax.set_ylim(-0.12, 1.12)
        ax.set_yticks([])
        ax.set_ylabel(label[str(2**bit)], rotation=0, ha="right", va="center")
        ax.tick_params(length=0)
        ax.spines["left"].set_visible(False)
    axes[-1].set_xlim(0, 8)
    axes[-1].set_xticks(np.arange(8) + 0.5, range(8))
    axes[-1].set_xlabel(label["x"])
    return fig


@figure(
    en={"x": "column", "y": "position"},
    zh={"x": "列", "y": "位置"},
)
def heat_map(label):
    fig, ax = canvas(height=320)
    values = sinusoidal_positional_encoding(80, 64)
    signed_image(ax, (values * 12).round() / 12)  # few shades, for a small file
    ax.set_xlabel(label["x"])
    ax.set_ylabel(label["y"])
    ax.set_xticks([0, 16, 32, 48, 63])
    ax.tick_params(labelsize=13)
    return fig


@figure(
    en={"x": "position", "pair": "pair {}", "sin": "sine", "cos": "cosine"},
    zh={"x": "位置", "pair": "第 {} 对", "sin": "正弦", "cos": "余弦"},
)
def waves(label):
    fig, axes = canvas(height=380, rows=4, sharex=True)
    table = sinusoidal_positional_encoding(101, 512)
    for ax, i, step in zip(axes, (0, 64, 128, 192), (1, 2, 10, 50), strict=True):
        p = np.arange(0, 101, step)  # slow waves need few points
        sin, cos = table[p, 2 * i], table[p, 2 * i + 1]
        ax.plot(p, sin, color=FIRST, label=label["sin"])
        ax.plot(p, cos, color=SECOND, linestyle=(0, (4, 2)), label=label["cos"])
        ax.set_ylim(-1.15, 1.15)
        ax.set_yticks([-1, 0, 1])
        ax.set_title(label["pair"].format(i), loc="left", pad=3)
    axes[0].legend(loc="lower right", bbox_to_anchor=(1, 0.95), ncols=2, borderpad=0)
    axes[-1].set_xlim(0, 100)
    axes[-1].set_xlabel(label["x"])
    return fig


@figure(
    en={"left": "from p = 1", "right": "from p = 5"},
    zh={"left": "从 p = 1 出发", "right": "从 p = 5 出发"},
)
def rotation(label):
    theta, k = 0.5, 3
    fig, axes = canvas(height=177, columns=2)
    for ax, p, title in zip(axes, (1, 5), (label["left"], label["right"]), strict=True):
        draw_dial(ax, title)
        dots = np.arange(9) * theta
        ax.plot(np.sin(dots), np.cos(dots), "o", color=MUTED, markersize=3)
        draw_hand(ax, p * theta, FIRST, f"PE({p})", 1.38)
        draw_hand(ax, (p + k) * theta, SECOND, f"PE({p + k})", 1.38)
        start, end = (
            (0.45 * math.sin(angle), 0.45 * math.cos(angle))
            for angle in (p * theta, (p + k) * theta)
        )
        bend = f"arc3,rad={-math.tan(k * theta / 4)}"
        arrow = {"arrowstyle": "->", "color": THIRD, "linewidth": 1.8}
        ax.annotate("", end, start, arrowprops=arrow | {"connectionstyle": bend})
        middle = (p + k / 2) * theta
        write(ax, 0.68 * math.sin(middle), 0.68 * math.cos(middle), "3θ")
    return fig


@figure(
    en={
        "x": "distance k",
        "y": "g(k), as a share of g(0)",
        "range": "all k near it",
        "mean": "their mean",
    },
    zh={
        "x": "距离 k",
        "y": "g(k)，占 g(0) 的比例",
        "range": "附近所有的 k",
        "mean": "它们的平均",
    },
)
def inner_product(label):
    fig, (near, far) = canvas(height=270, columns=2, sharey=True)
    fig.set_layout_engine("constrained", wspace=0.08)
    frequency = 1e4 ** (-np.arange(0, 512, 2) / 512)

    def g(k):
        return np.cos(k[:, None] * frequency).mean(axis=1)

    k = np.arange(-100, 101)
    near.plot(k, g(k), color=FIRST)
    near.set_xlim(-100, 100)
    near.set_xticks([-100, -50, 0, 50])
    edges = np.unique(np.geomspace(10, 100000, 60).astype(int))
    middle = np.sqrt(edges[:-1] * edges[1:])
    buckets = [g(np.arange(*ends)) for ends in itertools.pairwise(edges)]
    minima = [bucket.min() for bucket in buckets]
    maxima = [bucket.max() for bucket in buckets]
    far.fill_between(
        middle, minima, maxima, color=SECOND, alpha=0.35, linewidth=0, label=label["range"]
    )
    mean = [bucket.mean() for bucket in buckets]
    far.semilogx(middle, mean, color=FIRST, label=label["mean"])
    far.set_xlim(10, 100000)
    far.xaxis.set_major_formatter(lambda value, _: f"{value:.0f}")
    far.xaxis.set_minor_locator(NullLocator())
    far.legend(loc="upper right", borderpad=0)
    for ax in near, far:
        ax.axhline(0, color=INK, linewidth=0.7)
        ax.set_xlabel(label["x"])
        ax.set_ylim(-0.25, 1.05)
    near.set_ylabel(label["y"])
    return fig
