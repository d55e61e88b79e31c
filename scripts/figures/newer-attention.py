"""Figures of the page on newer attention."""

import torch

from figures.diagram import box, write
from figures.overview import narrow_canvas
from figures.style import FIRST, MUTED, SECOND, figure
from variants.newer_attention import softmax_with_sink


@figure(
    en={"match": "match", "none": "no match", "softmax": "softmax", "sink": "with a sink"},
    zh={"match": "匹配", "none": "都不匹配", "softmax": "softmax", "sink": "有汇点"},
)
def sinks(label):
    """The weights of two tokens, and of the sink, for two queries."""
    scores = torch.tensor([[12.0, 4.0], [0.5, 0.5]]).log()
    weights = softmax_with_sink(scores.expand(1, 1, 2, 2), torch.tensor([4.0]).log())[0, 0]
    plain = scores.softmax(dim=-1)
    fig, ax = narrow_canvas(204)
    left, length = 98, 296
    for i, query in enumerate((label["match"], label["none"])):
        write(ax, left + length / 2, 14 + 100 * i, query)
        for j, (name, row) in enumerate(((label["softmax"], plain), (label["sink"], weights))):
            top, x = 28 + 100 * i + 34 * j, left
            write(ax, left - 10, top + 14, name, ha="right")
            parts = [*row[i].tolist(), 1 - row[i].sum().item()]
            for part, color in zip(parts, (FIRST, SECOND, MUTED), strict=True):
                if part > 1e-6:
                    width = part * length
                    box(ax, x, top, width, 28, color, f"{part:.2f}", size=12)
                    x += width
    return fig
