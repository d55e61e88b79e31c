"""Figures of the chapter on layer normalization."""

import math
from itertools import pairwise

import numpy as np
import torch
from matplotlib.patches import Circle

from figures.diagram import arrow, blank_canvas, box, fill_cells, grid, line, plus, write
from figures.style import FIRST, INK, MUTED, PAPER, SECOND, THIRD, canvas, figure

TEXT = 16  # at least 11 pixels on a phone


@figure(
    en={
        "before": "x",
        "centered": "minus the mean, 4",
        "divided": "divided by the deviation, 3",
    },
    zh={
        "before": "x",
        "centered": "减去均值 4",
        "divided": "再除以标准差 3",
    },
)
def shift_and_shrink(label):
    fig, ax = blank_canvas(250)

    def to_x(number):
        return 150 + 38 * number

    x = np.array([1.0, 3, 3, 9])
    rows = ((45, x, "before"), (125, x - 4, "centered"), (205, (x - 4) / 3, "divided"))
    for (y, values, _), (lower, images, _) in pairwise(rows):
        for value, image in zip(values, images, strict=True):
            ends = (to_x(value), y + 4), (to_x(image), lower - 7)
            line(ax, *ends, width=1, zorder=0)
    for y, values, name in rows:
        line(ax, (20, y), (500, y), width=1)
        line(ax, (to_x(0), y - 5), (to_x(0), y + 5), width=1)
        paper = {"facecolor": PAPER, "edgecolor": "none", "pad": 2}
        if name != "divided":  # there, −0.33 is too near
            write(ax, to_x(0), y + 17, "0", MUTED, size=TEXT, bbox=paper)
        write(ax, 514, y - 12, label[name], ha="right", size=TEXT)
        dots = {"color": FIRST, "markersize": 7, "clip_on": False}
        ax.plot([*to_x(values), to_x(values[1])], [*[y] * 4, y - 8], "o", **dots)
        for value in sorted(set(values)):
            text = f"{value:.2f}".rstrip("0").rstrip(".").replace("-", "−")
            near = {"−1": ("right", 4), "−0.33": ("left", -6)} if name == "divided" else {}
            side, shift = near.get(text, ("center", 0))
            write(ax, to_x(value) + shift, y + 17, text, ha=side, size=TEXT, bbox=paper)
    return fig


@figure(
    en={"left": "mean subtracted", "right": "divided by the deviation"},
    zh={"left": "减去均值", "right": "再除以标准差"},
)
def circle(label):
    fig, axes = canvas(height=220, columns=2)
    x = torch.randn(120, 3, generator=torch.Generator().manual_seed(0))
    centered = (x - x.mean(dim=-1, keepdim=True)).numpy()
    plane = np.array([[1, -1, 0], [1, 1, -2]]) / np.array([[2], [6]]) ** 0.5
    flat = centered @ plane.T  # two coordinates within the plane of mean 0
    radius = np.linalg.norm(flat, axis=1, keepdims=True)
    for ax, points, title in (
        (axes[0], flat, label["left"]),
        (axes[1], math.sqrt(3) * flat / radius, label["right"]),
    ):
        ax.add_patch(Circle((0, 0), math.sqrt(3), fill=False, edgecolor=MUTED, zorder=0))
        ax.plot(*points.T, "o", color=FIRST, markersize=4.5, markeredgewidth=0, alpha=0.7)
        ax.plot(0, 0, "+", color=INK, markersize=9)
        write(ax, 0, 4.2, title)
        ax.set_aspect("equal")
        ax.set_xlim(-3.75, 3.75)
        ax.set_ylim(-3.5, 4.6)
        ax.set_axis_off()
    return fig


@figure(
    en={
        "numbers": "numbers of a token →",
        "first": "sentence 0",
        "second": "sentence 1",
        "layer": "LayerNorm",
        "batch": "BatchNorm",
    },
    zh={
        "numbers": "词元的数值 →",
        "first": "第 0 句",
        "second": "第 1 句",
        "layer": "层归一化",
        "batch": "批归一化",
    },
)
def which_axis(label):
    fig, ax = blank_canvas(304)
    size, gap, top = 26, 14, 38
    for panel, name in enumerate(("layer", "batch")):
        left = 112 + 216 * panel
        write(ax, left + 3 * size, 18, label[name], size=TEXT)
        token, shared = np.zeros((2, 2, 4, 6))  # sentence, position, number
        token[0, 1, 2] = 1
        shared[{"layer": (0, 1), "batch": (..., 2)}[name]] = 1
        for sentence, y in enumerate((top, top + 4 * size + gap)):
            fill_cells(ax, left, y, shared[sentence], size, FIRST, 0.3)
            fill_cells(ax, left, y, token[sentence], size, FIRST)
            grid(ax, left, y, 4, 6, size)
        write(ax, left + 3 * size, 284, label["numbers"], size=TEXT)
    write(ax, 100, top + 2 * size, label["first"], ha="right", size=TEXT)
    write(ax, 100, top + 6 * size + gap, label["second"], ha="right", size=TEXT)
    return fig


@figure(
    en={
        "post": "post-norm",
        "pre": "pre-norm",
        "attention": "attention",
        "forward": "feed-forward",
        "norm": "LayerNorm",
    },
    zh={
        "post": "后置归一化",
        "pre": "前置归一化",
        "attention": "注意力",
        "forward": "前馈网络",
        "norm": "层归一化",
    },
)
def two_arrangements(label):
    fig, ax = blank_canvas(440)
    for trunk, branch, kind in (62, 190, "post"), (322, 450, "pre"):
        write(ax, (trunk + branch) / 2, 16, label[kind], size=TEXT)
        write(ax, trunk, 428, "x", style="italic", size=TEXT)
        cuts = []  # ends of the trunk's pieces
        for bottom, sublayer in (400, "attention"), (218, "forward"):
            if kind == "post":
                stops, joint = (sublayer,), bottom - 100
                heights = (bottom - 52,)
                cuts.append(bottom - 138)
            else:
                stops, joint = ("norm", sublayer), bottom - 138
                heights = (bottom - 44, bottom - 94)
            line(ax, (trunk, bottom), (branch, bottom), color=INK)
            below = bottom
            for stop, y in zip(stops, heights, strict=True):
                arrow(ax, (branch, below), (branch, y + 15), color=INK)
                color = THIRD if stop == "norm" else SECOND
                box(ax, branch - 62, y - 15, 124, 30, color, label[stop], size=TEXT)
                below = y - 15
            arrow(ax, (branch, below), (branch, joint), (trunk + 11, joint), color=INK)
            plus(ax, trunk, joint)
        starts = [418, *(cut - 15 for cut in cuts)]
        tips = [*(cut + 15 for cut in cuts), 34]
        for start, tip in zip(starts, tips, strict=True):
            arrow(ax, (trunk, start), (trunk, tip), color=FIRST, width=2.6)
        for cut in cuts:
            box(ax, trunk - 52, cut - 15, 104, 30, THIRD, label["norm"], size=TEXT)
    return fig
