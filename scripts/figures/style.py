"""The common style of all figures: size, palette, fonts.

A figure is a function in scripts/figures/<chapter>.py:

    @figure(en={"x": "position"}, zh={"x": "位置"})
    def heat_map(label):
        fig, ax = canvas(height=240)
        ax.set_xlabel(label["x"])
        return fig

Colors are the constants below. In the SVG each becomes a custom property of
the page's style sheet, so that one file works in light and dark mode. Diagrams
use the boxes, arrows and grids of figures/diagram.py.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

LANGUAGES = ("en", "zh")
WIDTH = 400  # units of the SVG; on a phone a unit is about 0.95 pixels
INK = "#010101"  # text and axes
MUTED = "#020202"  # grid, secondary lines
PAPER = "#030303"  # the page itself
QUERY = "#040404"
KEY = "#050505"
VALUE = "#060606"
WEIGHT = "#0a0a0a"  # attention weights, in maps, bars and lines
FIRST = "#070707"  # the first, second and third series of a plot
SECOND = "#080808"
THIRD = "#090909"
# Signed images are transparent at zero and opaque in one of these colors at the
# largest magnitude, which works on light and dark pages. Weights are positive.
POSITIVE = to_rgb("#e8710a")  # as --weight of the style sheet
NEGATIVE = to_rgb("#1a73e8")
SHADES = 64  # indistinguishable from 256, with half the bytes
STYLE: dict = {
    "svg.fonttype": "none",
    "font.size": 13,
    "axes.labelsize": 13,
    "axes.titlesize": 13,
    "xtick.labelsize": 12.5,
    "ytick.labelsize": 12.5,
    "legend.fontsize": 12.5,
    "legend.frameon": False,
    "legend.facecolor": PAPER,  # with frameon=True the legend hides the grid behind it
    "legend.edgecolor": "none",
    "legend.framealpha": 1,
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": MUTED,
    "grid.linewidth": 0.5,
    "axes.prop_cycle": cycler(color=[FIRST, SECOND, THIRD]),
    "lines.linewidth": 1.8,
    "figure.constrained_layout.use": True,
    "savefig.transparent": True,
}
Draw = Callable[[dict[str, str]], Figure]


def figure(en: dict[str, str], zh: dict[str, str]) -> Callable[[Draw], Draw]:
    """Decorator: marks a function as a figure, with its labels in both languages.

    Raises ValueError if the languages have different labels.
    """
    if en.keys() != zh.keys():
        keys = ", ".join(sorted(en.keys() ^ zh.keys()))
        raise ValueError(f"labels in one language only: {keys}")

    def mark(draw: Draw) -> Draw:
        draw.labels = {"en": en, "zh": zh}  # type: ignore[attr-defined]
        return draw

    return mark


def canvas(
    height: float = 260, rows: int = 1, columns: int = 1, width: float = WIDTH, **options
) -> tuple[Figure, Any]:
    """A figure of a size in units of the SVG, and its axes (an array if there are several)."""
    fig = Figure(figsize=(width / 72, height / 72))
    return fig, fig.subplots(rows, columns, **options)


def signed_image(ax: Axes, values, largest: float = 1.0, **options) -> None:
    """Draw a matrix as an image: 0 is transparent, +-largest is opaque."""
    values = np.asarray(values, dtype=float)
    image = np.empty((*values.shape, 4))
    image[..., :3] = np.where(values[..., None] > 0, POSITIVE, NEGATIVE)
    image[..., 3] = np.round(np.clip(np.abs(values) / largest, 0, 1) * SHADES) / SHADES
    options.setdefault("aspect", "auto")
    ax.imshow(image, interpolation="none", **options)


def powers_of_ten(axis) -> None:
    """Label a logarithmic axis …, 10⁻², 10⁻¹, 1, 10, 10², …, without minor ticks."""
    superscript = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    exceptions = {0: "1", 1: "10"}

    def format_tick(value: float, _) -> str:
        power = round(math.log10(value))
        return exceptions.get(power, f"10{str(power).translate(superscript)}")

    axis.set_major_formatter(format_tick)
    axis.set_minor_locator(NullLocator())
