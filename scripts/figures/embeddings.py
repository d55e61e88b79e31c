"""Figures of the chapter on embeddings."""

from collections import Counter
from itertools import pairwise

import by_hand
from byte_pair_encoding import join, words
from figures.diagram import NARROW, arrow, blank_canvas, box, frame, line, write
from figures.style import FIRST, INK, MUTED, figure

WORDS = ["why", "do", "we", "work", "?"]  # the vocabulary of the chapter
PENCIL = by_hand.load()
ROWS = PENCIL.weights["src_embedding.embedding.weight"]
TABLE = [ROWS[PENCIL.source.index(word)] for word in WORDS]


def number_cells(ax, x, y, rows, width, height, color=INK) -> None:
    """Numbers in a grid of cells with its upper left corner at (x, y)."""
    for i, row in enumerate(rows):
        for j, number in enumerate(row):
            frame(ax, x + j * width, y + i * height, width, height, MUTED, 0.8)
            text = str(number).replace("-", "−")
            write(ax, x + (j + 0.5) * width, y + (i + 0.5) * height, text, color, size=16)


@figure(
    en={"text": "text", "tokens": "tokens", "ids": "ids", "table": "table"},
    zh={"text": "文字", "tokens": "词元", "ids": "编号", "table": "嵌入表"},
)
def text_to_vectors(label):
    """A text, its tokens and ids, and the rows that they select."""
    text, height, top, cells = ["we", "work"], 34, 40, 326
    fig, ax = blank_canvas(224)
    for x, name in ((38, "text"), (126, "tokens"), (196, "ids"), (cells + 92, "table")):
        write(ax, x, 18, label[name], size=16)
    middle = top + 3 * height
    write(ax, 38, middle, " ".join(text), size=16)
    for i, word in enumerate(WORDS):
        y = top + (i + 0.5) * height
        color = FIRST if word in text else INK
        write(ax, cells - 10, y, f"{i}  {word}", color, ha="right", size=16)
    number_cells(ax, cells, top, TABLE, 46, height)
    for word in text:
        i = WORDS.index(word)
        y = top + (i + 0.5) * height
        line(ax, (74, middle), (92, y), width=0.8)
        box(ax, 92, y - 15, 68, 30, FIRST, word, size=16)
        arrow(ax, (162, y), (184, y))
        write(ax, 196, y, str(i), size=16)
        arrow(ax, (208, y), (250, y))
        frame(ax, cells, top + i * height, 184, height, FIRST, 2.5)
    return fig


@figure(
    en={"pick": "one-hot row", "table": "table", "row": "row of “we”"},
    zh={"pick": "独热向量", "table": "嵌入表", "row": "we 的一行"},
)
def row_pick(label):
    fig, ax = blank_canvas(206)
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
    for i, word in enumerate(WORDS):
        color = FIRST if i == chosen else INK
        write(ax, middle - 8, top + (i + 0.5) * height, word, color, ha="right", size=16)
    frame(ax, left + chosen * 24, y, 24, height, FIRST, 2.5)
    frame(ax, middle, y, 4 * 33, height, FIRST, 2.5)
    frame(ax, right, y, 4 * 32, height, FIRST, 2.5)
    return fig


@figure(
    en={
        "times": "{} + {}: {} times",
        "tie": " (tied with {} + {}, which comes later)",
        "new": "a new word, by the same merges:",
    },
    zh={
        "times": "{} + {}：{} 次",
        "tie": "（{} + {} 同样多，但出现得晚）",
        "new": "用同样的合并切分一个新词：",
    },
)
def merges(label):
    """Three merges of the chapter's text as a ladder, and a new word cut by them."""
    text = "walk walk talk"
    fig, ax = blank_canvas(336, NARROW)
    pieces, rules = words(text), []

    def visible(symbol: str) -> str:
        return symbol.replace(" ", "␣")

    def draw_symbols(x, y, symbols, new=()) -> float:
        """The symbols in cells from (x, y) to the right; returns where they end."""
        for symbol in symbols:
            width = 26 * len(symbol)
            frame(ax, x, y, width, 26, MUTED, 0.8)
            if symbol in new:
                box(ax, x, y, width, 26, FIRST, tint=0.25)
            write(ax, x + width / 2, y + 13, visible(symbol))
            x += width
        return x

    for step in range(4):
        y, x = 8 + 74 * step, 8
        for piece in pieces:
            x = 10 + draw_symbols(x, y, piece, ["".join(rule) for rule in rules[-1:]])
        if step < 3:
            counts = Counter(pair for piece in pieces for pair in pairwise(piece))
            (rule, count), (other, other_count) = counts.most_common(2)
            rules.append(rule)
            pieces = [join(piece, rule) for piece in pieces]
            note = label["times"].format(*map(visible, rule), count)
            if count == other_count:
                note += label["tie"].format(*map(visible, other))
            arrow(ax, (60, y + 32), (60, y + 68))
            write(ax, 74, y + 50, note, ha="left")
    word: list[str] = list("tall")
    write(ax, 8, 284, label["new"], ha="left")
    x = draw_symbols(8, 302, word)
    for rule in rules:
        word = join(word, rule)
    arrow(ax, (x + 8, 315), (x + 38, 315))
    draw_symbols(x + 46, 302, word, ["".join(rule) for rule in rules])
    return fig
