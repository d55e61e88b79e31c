"""The initial state of the live translator's figure."""

from itertools import pairwise

import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Curve

from bookbuild.generated.cross_attention import trace_translation
from figures.diagram import ENGLISH, WIDTH, blank_canvas, write
from figures.style import INK, KEY, QUERY, WEIGHT, figure

HEIGHT = 216
# As in overrides/assets/widgets/translator-figure.js, which draws the same picture.
TOP, BOTTOM = 40, 172  # where the lines begin and end
SPAN = 440  # minimum width of a sentence
THRESHOLD = 0.02  # smaller weights have no line


def cell_middles(sizes: list[float]) -> list[float]:
    """The middle of each cell when cells of these sizes fill the span."""
    span = max(SPAN, sum(sizes))
    edges = np.cumsum([0, *sizes]) * span / sum(sizes) + (WIDTH - span) / 2
    return [(left + right) / 2 for left, right in pairwise(edges)]


@figure(en={}, zh={})
def attention_of_why(_):
    tokens, weights = trace_translation(ENGLISH)
    rows = weights[-1].mean(dim=0).tolist()  # the last layer, all heads
    word_xs = cell_middles([9.5 * len(word) + 22 for word in ENGLISH])
    token_xs = cell_middles([56 if token == "<eos>" else 34 for token in tokens])
    fig, ax = blank_canvas(HEIGHT)
    middle = (TOP + BOTTOM) / 2
    for token_x, row in zip(token_xs, rows, strict=True):
        for word_x, weight in zip(word_xs, row, strict=True):
            if weight >= THRESHOLD:
                points = [(token_x, BOTTOM), (token_x, middle), (word_x, middle), (word_x, TOP)]
                curve = Curve(points, [Curve.MOVETO, *[Curve.CURVE4] * 3])
                style = {"edgecolor": WEIGHT, "facecolor": "none", "clip_on": False}
                width, alpha = 0.5 + 5 * float(weight), max(0.2, float(weight))
                ax.add_patch(PathPatch(curve, linewidth=width, alpha=alpha, **style))
    for x, word in zip(word_xs, ENGLISH, strict=True):
        write(ax, x, 28, word, KEY, size=18, va="baseline")
    for x, token in zip(token_xs, tokens, strict=True):
        is_end = token == "<eos>"
        write(ax, x, 200, token, INK if is_end else QUERY, size=17 if is_end else 22, va="baseline")
    return fig
