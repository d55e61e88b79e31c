"""The picture of the live translator before anybody has touched it."""

from itertools import pairwise

import numpy as np
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Curve

from bookbuild.reference.cross_attention import trace_translation
from figures.diagram import ENGLISH, sheet, write
from figures.style import INK, KEY, QUERY, VALUE, WIDTH, figure

HEIGHT = 216
# As in overrides/assets/widgets/translator-figure.js, which draws the same picture.
TOP, BOTTOM = 40, 172  # where the lines begin and end
SPAN = 440  # a short sentence is spread over so much
THRESHOLD = 0.02  # a weight below it has no line


def middles(sizes: list[float]) -> list[float]:
    """Where the middle of each cell lies when all are spread over the span."""
    span = max(SPAN, sum(sizes))
    edges = np.cumsum([0, *sizes]) * span / sum(sizes) + (WIDTH - span) / 2
    return [(left + right) / 2 for left, right in pairwise(edges)]


@figure(en={}, zh={})
def attention_of_why(_):
    tokens, found = trace_translation(ENGLISH)
    weights = found[-1].mean(dim=0).tolist()  # the last layer, all heads
    words = middles([9.5 * len(word) + 22 for word in ENGLISH])
    places = middles([56 if token == "<eos>" else 34 for token in tokens])
    fig, ax = sheet(HEIGHT)
    middle = (TOP + BOTTOM) / 2
    for below, row in zip(places, weights, strict=True):
        for above, weight in zip(words, row, strict=True):
            if weight >= THRESHOLD:
                points = [(below, BOTTOM), (below, middle), (above, middle), (above, TOP)]
                curve = Curve(points, [Curve.MOVETO, *[Curve.CURVE4] * 3])
                style = {"edgecolor": VALUE, "facecolor": "none", "clip_on": False}
                width, alpha = 0.5 + 5 * float(weight), max(0.2, float(weight))
                ax.add_patch(PathPatch(curve, linewidth=width, alpha=alpha, **style))
    for x, word in zip(words, ENGLISH, strict=True):
        write(ax, x, 28, word, KEY, size=18, va="baseline")
    for x, token in zip(places, tokens, strict=True):
        end = token == "<eos>"
        write(ax, x, 200, token, INK if end else QUERY, size=13 if end else 22, va="baseline")
    return fig
