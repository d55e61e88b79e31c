"""Figures of the page on newer attention."""

import torch

from figures.diagram import arrow, box, line, write
from figures.examples import run_example
from figures.overview import narrow_canvas
from figures.style import MUTED, SECOND, WEIGHT, figure
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
            for part, color in zip(parts, (WEIGHT, WEIGHT, MUTED), strict=True):
                if part > 1e-6:
                    width = part * length
                    box(ax, x, top, width, 28, color, f"{part:.2f}", 0.4, size=12)
                    x += width
    return fig


@figure(
    en={
        "token": "token {}",
        "head": "head 0",
        "times": "3 × head 1",
        "score": "index score",
        "read": "read",
    },
    zh={
        "token": "词元 {}",
        "head": "0 号头",
        "times": "3 × 1 号头",
        "score": "索引分数",
        "read": "读取",
    },
)
def indexer(label):
    """The index scores of four tokens, head by head, and the two tokens that are read."""
    found = run_example("examples/newer-attention/index_by_hand.py")
    parts = found["head_weights"][:, None] * found["matches"]
    best, names = found["best"].tolist(), (label["head"], label["times"], label["score"])
    fig, ax = narrow_canvas(238)
    left, step, width = 118, 70, 62
    for i, (name, numbers) in enumerate(zip(names, (*parts, found["index_scores"]), strict=True)):
        top = 30 + 44 * i + 8 * (i == 2)
        write(ax, left - 12, top + 16, name, ha="right")
        for j, number in enumerate(numbers.tolist()):
            color = SECOND if i == 2 and j in best else MUTED
            box(ax, left + step * j, top, width, 32, color, f"{number:g}")
    line(ax, (left, 116), (left + 3 * step + width, 116))
    write(ax, left - 12, 208, label["read"], ha="right")
    for j in range(len(found["keys"])):
        x, token = left + step * j, label["token"].format(j)
        write(ax, x + width / 2, 14, token)
        if j in best:
            arrow(ax, (x + width / 2, 162), (x + width / 2, 187))
            box(ax, x, 192, width, 32, SECOND, token)
    return fig
