"""Figures drawn by hand: words, boxes, arrows and grids on an empty sheet.

    @figure(en={"memory": "memory"}, zh={"memory": "memory"})
    def crossing(label):
        fig, ax = sheet(60)
        box(ax, 20, 16, 80, 28, SECOND, label["memory"])
        arrow(ax, (100, 30), (140, 30))
        return fig

Coordinates are the units of the SVG, y downwards, and nothing lays itself out.
Plots are made with style.canvas alone.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, PathPatch, Rectangle
from matplotlib.path import Path

from figures.style import FIRST, INK, MUTED, PAPER, WIDTH, canvas, signed_image

ENGLISH = ["why", "do", "we", "work", "?"]  # the book's running example
CHINESE = list("我们为什么工作？")
TARGET = ["<bos>", *CHINESE]
PAD = "<pad>"


def sheet(height: float) -> tuple[Figure, Axes]:
    """A figure WIDTH units wide, and axes without marks that fill it."""
    fig, ax = canvas(height=height)
    fig.set_layout_engine("none")
    ax.set_position((0, 0, 1, 1))
    ax.set_axis_off()
    ax.set_xlim(0, WIDTH)
    ax.set_ylim(height, 0)
    return fig, ax


def write(ax, x, y, text, colour=INK, **options) -> None:
    """A text with its middle at (x, y), unless ha or va say otherwise."""
    options = {"ha": "center", "va": "center"} | options
    ax.text(x, y, text, color=colour, **options)


def line(ax, *points, colour=MUTED, width=1.2, **options) -> None:
    """From point to point."""
    options = {"solid_capstyle": "butt", "clip_on": False} | options
    ax.plot(*zip(*points, strict=True), color=colour, linewidth=width, **options)


def arrow(ax, *points, colour=MUTED, width=1.2) -> None:
    """From point to point, with its tip at the last."""
    size = 8 + 2 * width
    style = {"arrowstyle": "-|>", "mutation_scale": size, "color": colour, "linewidth": width}
    ax.add_patch(FancyArrowPatch(path=Path(points), clip_on=False, zorder=2, **style))


def frame(ax, x, y, width, height, colour, edge=1.2, **options) -> None:
    """An empty rectangle; its upper left corner is at (x, y)."""
    style: dict[str, Any] = {"facecolor": "none", "linewidth": edge, "clip_on": False} | options
    ax.add_patch(Rectangle((x, y), width, height, edgecolor=colour, **style))


def box(ax, x, y, width, height, colour, text="", tint=0.14, edge=1.2, **options) -> None:
    """A tinted rectangle, opaque to what lies below it, with its text in the middle."""
    frame(ax, x, y, width, height, "none", 0, facecolor=PAPER)
    frame(ax, x, y, width, height, colour, edge, facecolor=to_rgba(colour, tint))
    write(ax, x + width / 2, y + height / 2, text, **options)


def grid(ax, x, y, rows, columns, size, colour=MUTED, edge=0.8) -> None:
    """The lines between and around square cells; the upper left corner is at (x, y)."""
    right, bottom = x + columns * size, y + rows * size
    across = [Path([(x, y + i * size), (right, y + i * size)]) for i in range(rows + 1)]
    down = [Path([(x + i * size, y), (x + i * size, bottom)]) for i in range(columns + 1)]
    style = {"edgecolor": colour, "facecolor": "none", "capstyle": "projecting"}
    path = Path.make_compound_path(*across, *down)
    ax.add_patch(PathPatch(path, linewidth=edge, clip_on=False, **style))


def cells(ax, x, y, chosen, size, colour, opacity=1.0) -> None:
    """The chosen cells of a grid at (x, y), filled; chosen is a matrix of booleans."""
    runs = []  # neighbours in a row are one rectangle
    for i, row in enumerate(np.asarray(chosen, dtype=int)):
        ends = x + size * np.flatnonzero(np.diff(row, prepend=0, append=0))
        runs += [(left, y + i * size, right - left, size) for left, right in ends.reshape(-1, 2)]
    bars(ax, runs, colour, opacity)


def bars(ax, boxes, colour, opacity=1.0) -> None:
    """Filled rectangles (x, y, width, height): one path, however many they are."""
    rectangles = []
    for left, top, width, height in boxes:
        right, bottom = left + width, top + height
        corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
        rectangles.append(Path(corners, closed=True))
    if rectangles:
        path = Path.make_compound_path(*rectangles)
        style = {"facecolor": colour, "alpha": opacity, "linewidth": 0}
        ax.add_patch(PathPatch(path, clip_on=False, **style))


def signed_cells(ax, x, y, values, size, largest) -> None:
    """A matrix as a grid at (x, y) whose cells have the colours of signed_image."""
    rows, columns = np.shape(values)
    extent = (x, x + columns * size, y + rows * size, y)
    signed_image(ax, values, largest=largest, extent=extent)
    grid(ax, x, y, rows, columns, size)


def beside(ax, x, y, words, size) -> None:
    """Words on the left of a grid at (x, y); padding has a colour of its own."""
    for i, word in enumerate(words):
        colour = FIRST if word == PAD else INK
        write(ax, x - 6, y + (i + 0.5) * size, word, colour, ha="right", size=12)


def above(ax, x, y, words, size) -> None:
    """Words on the top of a grid at (x, y), turned unless they are one character."""
    turned = {"ha": "left", "rotation": 90, "rotation_mode": "anchor"}
    for i, word in enumerate(words):
        colour = FIRST if word == PAD else INK
        place = turned if len(word) > 1 else {"va": "bottom"}
        write(ax, x + (i + 0.5) * size, y - 6, word, colour, size=12, **place)
