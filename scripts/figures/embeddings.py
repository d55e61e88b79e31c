"""Figures of the chapter on embeddings."""

from collections import Counter
from itertools import pairwise

import numpy as np

from byte_pair_encoding import join, words
from figures.diagram import ENGLISH, NARROW, arrow, blank_canvas, box, frame, line, write
from figures.style import FIRST, INK, MUTED, figure
from pencil_words import table

TABLE = table.int().tolist()  # of the pencil model, a row for each word of the sentence


def number_cells(ax, x, y, rows, width, height, color=INK) -> None:
    """Numbers in a grid of cells with its upper left corner at (x, y)."""
    for i, row in enumerate(rows):
        for j, number in enumerate(row):
            frame(ax, x + j * width, y + i * height, width, height, MUTED, 0.8)
            text = str(number).replace("-", "−")
            write(ax, x + (j + 0.5) * width, y + (i + 0.5) * height, text, color, size=16)


@figure(
    en={"text": "text", "tokens": "tokens", "ids": "ids", "vectors": "vectors"},
    zh={"text": "文字", "tokens": "词元", "ids": "编号", "vectors": "向量"},
)
def text_to_vectors(label):
    fig, ax = blank_canvas(290)
    for y, name in ((20, "text"), (72, "tokens"), (126, "ids"), (216, "vectors")):
        write(ax, 4, y, label[name], ha="left", size=16)
    write(ax, 300, 20, " ".join(ENGLISH), size=16)
    for i, (word, row) in enumerate(zip(ENGLISH, TABLE, strict=True)):
        x = 130 + 85 * i
        line(ax, (300, 34), (x, 57), width=0.8)
        box(ax, x - 34, 57, 68, 30, FIRST, word, size=16)
        arrow(ax, (x, 87), (x, 112))
        write(ax, x, 126, str(i), size=16)
        arrow(ax, (x, 139), (x, 160))
        number_cells(ax, x - 22, 162, np.array(row)[:, None], 44, 28)
    return fig


@figure(
    en={"pick": "one-hot row", "table": "table", "row": "row of “we”"},
    zh={"pick": "独热行", "table": "嵌入表", "row": "we 的一行"},
)
def row_pick(label):
    fig, ax = blank_canvas(200)
    chosen, height = 2, 30
    left, middle, right = 4, 212, 388
    top = 44
    y = top + chosen * height
    for x, width, name in ((left, 120, "pick"), (middle, 132, "table"), (right, 128, "row")):
        write(ax, x + width / 2, 18, label[name], size=16)
    number_cells(ax, left, y, [[int(i == chosen) for i in range(5)]], 24, height)
    number_cells(ax, middle, top, TABLE, 33, height)
    number_cells(ax, right, y, [TABLE[chosen]], 32, height)
    write(ax, 140, y + height / 2, "×", size=18)
    write(ax, 366, y + height / 2, "=", size=18)
    for i, word in enumerate(ENGLISH):
        color = FIRST if i == chosen else INK
        write(ax, middle - 8, top + (i + 0.5) * height, word, color, ha="right", size=16)
    frame(ax, left + chosen * 24, y, 24, height, FIRST, 2.5)
    frame(ax, middle, y, 4 * 33, height, FIRST, 2.5)
    frame(ax, right, y, 4 * 32, height, FIRST, 2.5)
    return fig


@figure(en={"times": "{} + {}: {} times"}, zh={"times": "{} + {}：{} 次"})
def merges(label):
    """Three merges of the chapter's text as a ladder."""
    text = "walk walk talk"
    fig, ax = blank_canvas(262, NARROW)
    pieces, done = words(text), None

    def visible(symbol: str) -> str:
        return symbol.replace(" ", "␣")

    for step in range(4):
        y, x = 8 + 74 * step, 8
        for piece in pieces:
            for symbol in piece:
                width = 26 * len(symbol)
                is_new = done is not None and symbol == "".join(done)
                frame(ax, x, y, width, 26, MUTED, 0.8)
                if is_new:
                    box(ax, x, y, width, 26, FIRST, tint=0.25)
                write(ax, x + width / 2, y + 13, visible(symbol))
                x += width
            x += 10
        if step < 3:
            counts = Counter(pair for piece in pieces for pair in pairwise(piece))
            done, count = counts.most_common(1)[0]
            pieces = [join(piece, done) for piece in pieces]
            arrow(ax, (60, y + 32), (60, y + 68))
            write(ax, 74, y + 50, label["times"].format(*map(visible, done), count), ha="left")
    return fig
