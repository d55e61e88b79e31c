"""Figures of the chapter on multi-head attention."""

import numpy as np
import torch
from matplotlib.colors import to_rgba

from figures.diagram import (
    arrow,
    blank_canvas,
    fill_cells,
    frame,
    grid,
    line,
    write,
)
from figures.examples import run_example
from figures.overview import narrow_canvas
from figures.style import FIRST, INK, KEY, MUTED, PAPER, QUERY, SECOND, VALUE, WEIGHT, figure

STRONG, PALE = 0.85, 0.35  # opacity of head 0 and head 1
W_OUTPUT = torch.tensor([[1.0, 0, 1], [0, 1, 0], [0, 1, -1], [1, 0, 0]])  # invented


def two_decimals(vector) -> list[str]:
    return [f"{number:.2f}".replace("-", "−") for number in vector.tolist()]


def whole(vector) -> list[str]:
    return [f"{number:.0f}".replace("-", "−") for number in vector.tolist()]


@figure(
    en={
        "x": "x of work",
        "head": "head {}",
        "attends": "attends to {}",
        "outputs": "outputs of the heads",
        "joined": "joined",
        "output": "output of work",
    },
    zh={
        "x": "work 的 x",
        "head": "{} 号头",
        "attends": "关注 {}",
        "outputs": "两个头的输出",
        "joined": "拼接",
        "output": "work 的输出",
    },
)
def output_map(label):
    """The row of work: the two heads of the page, joined, times an invented W^O."""
    loop = run_example("examples/multi-head-attention/two_heads.py")
    fig, ax = narrow_canvas(362)
    colors = FIRST, SECOND  # of head 0 and head 1
    by_head = [color for color in colors for _ in range(2)]
    width, height, left, top = 46, 26, 212, 196  # of a cell; the corner of W^O

    def draw_cells(x, y, texts, cell_colors, tint=0.22):
        for text, color in zip(texts, cell_colors, strict=True):
            frame(ax, x, y, width, height, MUTED, 0.6, facecolor=to_rgba(color, tint))
            write(ax, x + width / 2, y + height / 2, text)
            x += width

    def write_matrix_name(x, y, superscript, **options):
        write(ax, x, y, "W", ha="left", **options)
        write(ax, x + 14, y - 5, superscript, ha="left", size=12.3)

    draw_cells(29, 6, whole(loop["x"][1]), [INK] * 3, 0)
    write(ax, 200, 19, label["x"], ha="left")
    line(ax, (30, 36), (30, 42), (166, 42), (166, 36))  # each head reads all numbers
    parts = zip(("we", "?"), colors, (2, 102), (0, 2), strict=True)
    joined = loop["joined"][1]
    for head, (word, color, x, first) in enumerate(parts):
        middle = x + width
        arrow(ax, (98, 42), (middle, 62), color=color)
        write(ax, middle, 73, label["head"].format(head), color, weight="bold")
        frame(ax, x, 84, 2 * width, height, color, 1.2, facecolor=to_rgba(color, 0.22))
        for i, superscript in enumerate("QKV"):
            write_matrix_name(x + 4 + 30 * i, 98, superscript)
        write(ax, middle, 124, label["attends"].format(word), size=12.3)
        draw_cells(x, 138, two_decimals(joined[first : first + 2]), [color] * 2)
        arrow(ax, (middle, 138 + height), (6 + (1 + first) * width, top + 36), color=color)
    write(ax, 200, 151, label["outputs"], ha="left")
    write(ax, 98, top + 80, label["joined"])
    draw_cells(6, top + 39, two_decimals(joined), by_head)
    write(ax, 201, top + 51, "·", size=18)
    write_matrix_name(left + 1.5 * width - 10, top - 13, "O", weight="bold")
    for i, row in enumerate(W_OUTPUT):
        draw_cells(left, top + height * i, whole(row), [by_head[i]] * 3)
    below = top + 4 * height + 24
    write(ax, left + 1.5 * width, below - 12, "=", size=16)
    draw_cells(left, below, two_decimals(joined @ W_OUTPUT), [INK] * 3, 0.14)
    write(ax, 200, below + height / 2, label["output"], ha="right")
    for x, y, columns, rows in (
        (6, top + 39, 4, 1),
        (left, top, 3, 4),
        (left, below, 3, 1),
    ):
        frame(ax, x, y, columns * width, rows * height, INK, 1.8)
    return fig


@figure(
    en={
        "x": "tokens",
        "maps": "linear maps",
        "split": "split",
        "scores": "weights",
        "average": "average",
        "join": "join",
        "output": "output",
        "head": "head {}",
    },
    zh={
        "x": "词元",
        "maps": "线性映射",
        "split": "拆成两个头",
        "scores": "权重",
        "average": "加权平均",
        "join": "拼接",
        "output": "输出",
        "head": "{} 号头",
    },
)
def shapes(label):
    n, d, nhead, size = 5, 8, 2, 9
    head_dim = d // nhead
    fig, ax = blank_canvas(625)

    def draw_matrix(x, y, rows, columns, color, opacity):
        """A matrix of cells centered at (x, y), separated by lines in the color of the page."""
        corner = x - columns * size / 2, y - rows * size / 2
        fill_cells(ax, *corner, np.ones((rows, columns)), size, color, opacity)
        grid(ax, *corner, rows, columns, size, PAPER, 1)

    def draw_step_label(y, name, shape):
        write(ax, 4, y - 9, label[name], ha="left")
        write(ax, 4, y + 10, shape, ha="left")

    columns = [(180, QUERY, "Q"), (305, KEY, "K"), (430, VALUE, "V")]
    draw_step_label(45, "x", "(5, 8)")
    draw_matrix(305, 45, n, d, INK, 0.45)
    write(ax, 365, 45, "X")
    draw_step_label(135, "maps", "(5, 8)")
    draw_step_label(225, "split", "(2, 5, 4)")
    for x, color, name in columns:
        arrow(ax, (305, 72), (x, 108))
        draw_matrix(x, 135, n, d, color, STRONG)
        write(ax, x + 48, 135, name, color)
        arrow(ax, (x, 161), (x, 197))
        for head, opacity in enumerate((STRONG, PALE)):
            draw_matrix(x + (-26, 26)[head], 225, n, head_dim, color, opacity)
    draw_step_label(335, "scores", "(2, 5, 5)")
    draw_step_label(425, "average", "(2, 5, 4)")
    for x, opacity, head in (200, STRONG, 0), (415, PALE, 1):
        write(ax, x, 285, label["head"].format(head))
        draw_matrix(x - 68, 335, n, head_dim, QUERY, opacity)
        write(ax, x - 40, 335, "×")
        draw_matrix(x - 8, 335, head_dim, n, KEY, opacity)
        write(ax, x + 26, 335, "→")
        draw_matrix(x + 62, 335, n, n, WEIGHT, opacity)
        draw_matrix(x - 68, 425, n, n, WEIGHT, opacity)
        write(ax, x - 36, 425, "×")
        draw_matrix(x - 8, 425, n, head_dim, VALUE, opacity)
        write(ax, x + 22, 425, "=")
        draw_matrix(x + 52, 425, n, head_dim, VALUE, opacity)
        arrow(ax, (x + 52, 452), (285 if head == 0 else 325, 490))
    draw_step_label(515, "join", "(5, 8)")
    draw_matrix(287, 515, n, head_dim, VALUE, STRONG)
    draw_matrix(287 + 4 * size, 515, n, head_dim, VALUE, PALE)
    arrow(ax, (305, 541), (305, 571))
    write(ax, 325, 555, "Wᴼ")
    draw_step_label(597, "output", "(5, 8)")
    draw_matrix(305, 597, n, d, INK, 0.45)
    return fig
