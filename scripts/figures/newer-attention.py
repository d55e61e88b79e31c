"""Figures of the page on newer attention."""

import torch

from figures.diagram import arrow, box, line, write
from figures.overview import narrow_canvas
from figures.style import FIRST, INK, MUTED, SECOND, THIRD, figure
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


@figure(
    en={"norm": "norm", "names": ("2017", "GPT-2", "Gemma 3", "OLMo 2")},
    zh={"norm": "归一化", "names": ("2017 年", "GPT-2", "Gemma 3", "OLMo 2")},
)
def wirings(label):
    """A sublayer with its norms in four orders; x enters below and leaves above."""
    orders = (
        ("f", "+", "norm"),
        ("norm", "f", "+"),
        ("norm", "f", "norm", "+"),
        ("f", "norm", "+"),
    )
    fig, ax = narrow_canvas(252)
    for i, (name, order) in enumerate(zip(label["names"], orders, strict=True)):
        x, y = 58 + 91 * i, 214
        write(ax, x - 8, 12, name)
        write(ax, x, 240, "$x$")
        start = y + 4
        for part in order:
            y -= 43
            arrow(ax, (x, start), (x, y + 29))
            if part == "+":
                write(ax, x, y + 14, "+", size=17)
                line(ax, (x, 218), (x - 40, 218), (x - 40, y + 14), color=INK)
                arrow(ax, (x - 40, y + 14), (x - 9, y + 14), color=INK)
            else:
                color = SECOND if part == "norm" else THIRD
                text = label["norm"] if part == "norm" else "$f$"
                box(ax, x - 28, y, 56, 28, color, text, size=12.5)
            start = y
        arrow(ax, (x, start), (x, 24))
    return fig
