"""Helpers for diagrams: texts, boxes, arrows and grids on a blank canvas.

    @figure(en={"memory": "memory"}, zh={"memory": "memory"})
    def crossing(label):
        fig, ax = blank_canvas(60)
        box(ax, 20, 16, 80, 28, SECOND, label["memory"])
        arrow(ax, (100, 30), (140, 30))
        return fig

Coordinates are SVG units with y downwards; there is no automatic layout.
Plots only need style.canvas.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, PathPatch, Rectangle
from matplotlib.path import Path

from figures.style import FIRST, INK, MUTED, PAPER, canvas, signed_image
from figures.style import WIDTH as NARROW

WIDTH = 520  # on a phone a unit is about 0.7 pixels, so texts have at least 15

ENGLISH = ["why", "do", "we", "work", "?"]  # the book's running example
CHINESE = list("我们为什么工作？")
TARGET = ["<bos>", *CHINESE]
PAD = "<pad>"


def blank_canvas(height: float, width: float = WIDTH) -> tuple[Figure, Axes]:
    """A figure of a size in units of the SVG, and axes without ticks or spines that fill it."""
    fig, ax = canvas(height=height, width=width)
    fig.set_layout_engine("none")
    ax.set_position((0, 0, 1, 1))
    ax.set_axis_off()
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    return fig, ax


def write(ax, x, y, text, color=INK, **options) -> None:
    """A text centered at (x, y), unless ha or va are given, legible on a phone."""
    is_wide = ax.figure.get_figwidth() * 72 > NARROW + 1
    options = {"ha": "center", "va": "center", "size": 15 if is_wide else 13} | options
    ax.text(x, y, text, color=color, **options)


def line(ax, *points, color=MUTED, width=1.2, **options) -> None:
    """A line through the points."""
    options = {"solid_capstyle": "butt", "clip_on": False} | options
    ax.plot(*zip(*points, strict=True), color=color, linewidth=width, **options)


def arrow(ax, *points, color=MUTED, width=1.2) -> None:
    """An arrow through the points, with its tip at the last one."""
    size = 8 + 2 * width
    style = {"arrowstyle": "-|>", "mutation_scale": size, "color": color, "linewidth": width}
    ax.add_patch(FancyArrowPatch(path=Path(points), clip_on=False, zorder=2, **style))


def plus(ax, x: float, y: float) -> None:
    """The circle of an addition at (x, y)."""
    ax.add_patch(Circle((x, y), 10, edgecolor=FIRST, facecolor=PAPER, linewidth=1.5, zorder=3))
    line(ax, (x - 5, y), (x + 5, y), color=FIRST, width=1.5, zorder=4)
    line(ax, (x, y - 5), (x, y + 5), color=FIRST, width=1.5, zorder=4)


def frame(ax, x, y, width, height, color, edge=1.2, **options) -> None:
    """The outline of a rectangle with its upper left corner at (x, y)."""
    style: dict[str, Any] = {"facecolor": "none", "linewidth": edge, "clip_on": False} | options
    ax.add_patch(Rectangle((x, y), width, height, edgecolor=color, **style))


def box(ax, x, y, width, height, color, text="", tint=0.14, edge=1.2, **options) -> None:
    """A tinted rectangle that hides what is behind it, with a text in its center."""
    frame(ax, x, y, width, height, "none", 0, facecolor=PAPER)
    frame(ax, x, y, width, height, color, edge, facecolor=to_rgba(color, tint))
    write(ax, x + width / 2, y + height / 2, text, **options)


def grid(ax, x, y, rows, columns, size, color=MUTED, edge=0.8) -> None:
    """The lines of a grid of square cells with its upper left corner at (x, y)."""
    right, bottom = x + columns * size, y + rows * size
    horizontal = [Path([(x, y + i * size), (right, y + i * size)]) for i in range(rows + 1)]
    vertical = [Path([(x + i * size, y), (x + i * size, bottom)]) for i in range(columns + 1)]
    style = {"edgecolor": color, "facecolor": "none", "capstyle": "projecting"}
    path = Path.make_compound_path(*horizontal, *vertical)
    ax.add_patch(PathPatch(path, linewidth=edge, clip_on=False, **style))


def fill_cells(ax, x, y, mask, size, color, opacity=1.0) -> None:
    """Fill the cells of a grid at (x, y) where the boolean matrix mask is True."""
    rectangles = []  # neighbors in a row are one rectangle
    for i, row in enumerate(np.asarray(mask, dtype=int)):
        ends = x + size * np.flatnonzero(np.diff(row, prepend=0, append=0))
        rectangles += [
            (left, y + i * size, right - left, size) for left, right in ends.reshape(-1, 2)
        ]
    fill_rectangles(ax, rectangles, color, opacity)


def fill_rectangles(ax, rectangles, color, opacity=1.0) -> None:
    """Filled rectangles (x, y, width, height), all in one path."""
    paths = []
    for left, top, width, height in rectangles:
        right, bottom = left + width, top + height
        corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
        paths.append(Path(corners, closed=True))
    if paths:
        path = Path.make_compound_path(*paths)
        style = {"facecolor": color, "alpha": opacity, "linewidth": 0}
        ax.add_patch(PathPatch(path, clip_on=False, **style))


def signed_cells(ax, x, y, values, size, largest) -> None:
    """A matrix as a grid at (x, y), with the colors of signed_image."""
    rows, columns = np.shape(values)
    extent = (x, x + columns * size, y + rows * size, y)
    signed_image(ax, values, largest=largest, extent=extent)
    grid(ax, x, y, rows, columns, size)


def labeled_grid(ax, x, y, rows, columns, size) -> None:
    """A grid at (x, y) with a word beside each row and above each column."""
    grid(ax, x, y, len(rows), len(columns), size)
    label_rows(ax, x, y, rows, size)
    label_columns(ax, x, y, columns, size)


def label_rows(ax, x, y, words, size) -> None:
    """Words to the left of the rows of a grid at (x, y), with padding in another color."""
    for i, word in enumerate(words):
        color = FIRST if word == PAD else INK
        write(ax, x - 6, y + (i + 0.5) * size, word, color, ha="right")


def label_columns(ax, x, y, words, size) -> None:
    """Words above the columns of a grid at (x, y), vertical if longer than a character."""
    vertical = {"ha": "left", "rotation": 90, "rotation_mode": "anchor"}
    for i, word in enumerate(words):
        color = FIRST if word == PAD else INK
        alignment = vertical if len(word) > 1 else {"va": "bottom"}
        write(ax, x + (i + 0.5) * size, y - 6, word, color, **alignment)
