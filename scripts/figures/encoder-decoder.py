"""Figures of the chapter on the encoder and the decoder.

Texts are at least 15 units high, so that they can be read on a phone.
"""

import numpy as np

import by_hand
from figures.diagram import (
    ENGLISH,
    arrow,
    blank_canvas,
    box,
    fill_cells,
    frame,
    grid,
    line,
    write,
)
from figures.style import FIRST, INK, KEY, MUTED, QUERY, SECOND, THIRD, VALUE, WEIGHT, figure

WRITTEN = ["<bos>", "我们", "为什么", "工作", "？"]  # tokens of the pencil model
LARGE = {"size": 15}


def draw_residual(ax, lane, x, bottom, top, edge) -> None:
    """A residual connection from a lane at y = bottom around to the side x of a box above."""
    arrow(ax, (lane, bottom), (edge, bottom), (edge, top), (x, top))


@figure(
    en={
        "attention": "self-attention,",
        "past": "no later tokens",
        "cross": "cross-attention",
        "network": "feed-forward",
        "norm": "sum, LayerNorm",
        "memory": "encoder output",
        "query": "queries",
        "keys": "keys,",
        "values": "values",
    },
    zh={
        "attention": "自注意力，",
        "past": "看不到后面",
        "cross": "交叉注意力",
        "network": "前馈网络",
        "norm": "相加，层归一化",
        "memory": "编码器输出",
        "query": "查询",
        "keys": "键、",
        "values": "值",
    },
)
def decoder_layer(label):
    fig, ax = blank_canvas(410)
    xs, left, right = [176 + 56 * i for i in range(4)], 150, 370
    for x, word in zip(xs, WRITTEN, strict=False):
        write(ax, x, 398, word, **LARGE)
    for x in xs:
        line(ax, (x, 386), (x, 24), zorder=0)
    for y, color in ((300, FIRST), (170, THIRD)):
        box(ax, left, y, right - left, 66, color, tint=0.08)
    for i, end in enumerate(xs):
        for start in xs[: i + 1]:
            chosen = i == 2
            color, width = (FIRST, 1.6) if chosen else (MUTED, 0.6)
            line(ax, (start, 364), (end, 302), color=color, width=width, zorder=3 if chosen else 2)
    for x in xs:
        for y in (264, 134, 36):
            box(ax, x - 20, y, 40, 22, THIRD)
        arrow(ax, (x, 250), (x, 238), color=QUERY)
        box(ax, x - 20, 80, 40, 40, FIRST)
        arrow(ax, (x, 36), (x, 20))
    for row, word in enumerate(ENGLISH):
        y = 142 + 26 * row
        for i, x in enumerate(xs):
            color, width, zorder = (THIRD, 1.6, 3) if i == 2 else (MUTED, 0.6, 2)
            line(ax, (x, 203), (432, y + 9), color=color, width=width, zorder=zorder)
        box(ax, 432, y, 18, 18, THIRD, tint=0.4)
        write(ax, 458, y + 9, word, ha="left", **LARGE)
    for x in xs:
        line(ax, (x, 236), (x, 170), width=0.6, zorder=2)
    write(ax, 518, 124, label["memory"], THIRD, ha="right", **LARGE)
    write(ax, xs[1] - 28, 221, label["query"], QUERY, **LARGE)
    write(ax, 432, 282, label["keys"], KEY, ha="left", **LARGE)
    write(ax, 432, 302, label["values"], VALUE, ha="left", **LARGE)
    names = ((324, "attention"), (342, "past"), (275, "norm"), (203, "cross"))
    for y, name in (*names, (145, "norm"), (100, "network"), (47, "norm")):
        write(ax, 2, y, label[name], ha="left", **LARGE)
    for bottom, top in ((376, 275), (250, 145), (128, 47)):
        draw_residual(ax, xs[0], xs[0] - 20, bottom, top, 136)
    return fig


@figure(
    en={"next": "next token", "query": "query"},
    zh={"next": "下一个词元", "query": "查询"},
)
def alignment(label):
    """Head 0 of the pencil model's cross-attention."""
    hand = by_hand.load(decimals=2)
    hand.translate(ENGLISH)
    name = "decoder.layers.0.cross_attention.weights.0"
    (weights,) = (table.values for table in hand.tables if table.name == name)
    fig, ax = blank_canvas(236)
    left, top, width, height = 92, 40, 62, 38
    write(ax, left - 10, 16, label["query"], QUERY, ha="right", **LARGE)
    for column, word in enumerate(ENGLISH):
        write(ax, left + (column + 0.5) * width, 16, word, KEY, **LARGE)
    write(ax, 424, 16, label["next"], ha="left", **LARGE)
    for row, (token, written) in enumerate(zip(WRITTEN, [*WRITTEN[1:], "<eos>"], strict=True)):
        y = top + row * height
        write(ax, left - 10, y + height / 2, token, QUERY, ha="right", **LARGE)
        for column, weight in enumerate(weights[row]):
            tint = 0.55 * weight
            text = f"{weight:.2f}"
            box(ax, left + column * width, y, width, height, WEIGHT, text, tint, 0, **LARGE)
            frame(ax, left + column * width, y, width, height, MUTED, 0.8)
        arrow(ax, (left + 5 * width + 4, y + height / 2), (left + 5 * width + 20, y + height / 2))
        write(ax, 424, y + height / 2, written, ha="left", **LARGE)
    return fig


@figure(
    en={
        "ours": "as it is",
        "pairs": "a common misreading",
        "encoder": "encoder",
        "decoder": "decoder",
    },
    zh={"ours": "实际如此", "pairs": "常见的误读", "encoder": "编码器", "decoder": "解码器"},
)
def readers(label):
    fig, ax = blank_canvas(300)
    for shift, name in ((0, "ours"), (270, "pairs")):
        write(ax, shift + 125, 14, label[name], INK, **LARGE)
        write(ax, shift + 50, 286, label["encoder"], SECOND, **LARGE)
        write(ax, shift + 200, 286, label["decoder"], FIRST, **LARGE)
        for i in range(6):
            y = 232 - 40 * i
            box(ax, shift + 10, y, 80, 26, SECOND, str(i + 1), **LARGE)
            box(ax, shift + 160, y, 80, 26, FIRST, str(i + 1), **LARGE)
            for x in (50, 200) if i < 5 else ():
                arrow(ax, (shift + x, y), (shift + x, y - 13))
            start = 91 if name == "pairs" else 124
            arrow(ax, (shift + start, y + 13), (shift + 158, y + 13), color=THIRD)
    line(ax, (91, 45), (125, 45), color=THIRD, width=2)
    line(ax, (125, 44), (125, 245), color=THIRD, width=2)
    for slope in (1, -1):
        line(ax, (292, 14 - 6 * slope), (304, 14 + 6 * slope), color=INK, width=2.4)
    return fig


@figure(
    en={"encoder": "encoder", "decoder": "decoder", "cross": "cross-attention"},
    zh={"encoder": "编码器", "decoder": "解码器", "cross": "交叉注意力"},
)
def three_attentions(label):
    fig, ax = blank_canvas(206)
    size, top = 22, 58
    causal = np.tril(np.ones((5, 5), dtype=bool))
    full = np.ones((5, 5), dtype=bool)
    for x, name, rows, columns, mask, color in (
        (48, "encoder", ENGLISH, ENGLISH, full, SECOND),
        (226, "decoder", WRITTEN, WRITTEN, causal, FIRST),
        (404, "cross", WRITTEN, ENGLISH, full, THIRD),
    ):
        fill_cells(ax, x, top, mask, size, color)
        grid(ax, x, top, 5, 5, size)
        for i in range(5):
            write(ax, x - 5, top + (i + 0.5) * size, rows[i], QUERY, ha="right", **LARGE)
            vertical = {"ha": "left", "rotation": 90, "rotation_mode": "anchor"}
            write(ax, x + (i + 0.5) * size, top - 6, columns[i], KEY, **vertical, **LARGE)
        write(ax, x + 2.5 * size, top + 5 * size + 20, label[name], color, **LARGE)
    return fig
