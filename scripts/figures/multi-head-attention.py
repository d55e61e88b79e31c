"""Figures of the chapter on multi-head attention."""

import numpy as np
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


def two_decimals(vector) -> list[str]:
    return [f"{number:.2f}".replace("-", "−") for number in vector.tolist()]


@figure(
    en={
        "x": "x of work",
        "head": "head {}",
        "joined": "joined",
        "times": "times",
        "output": "output of work",
        "attends": "work attends to {}",
    },
    zh={
        "x": "work 的 x",
        "head": "{} 号头",
        "joined": "拼接",
        "times": "乘",
        "output": "work 的输出",
        "attends": "work 关注 {}",
    },
)
def output_map(label):
    """The row of work: two heads of the pencil model, joined, times an invented W^O."""
    loop = run_example("examples/multi-head-attention/two_heads.py")
    mapped = run_example("examples/multi-head-attention/output_map.py")
    fig, ax = narrow_canvas(354)
    colors = FIRST, SECOND  # of head 0 and head 1
    by_head = [color for color in colors for _ in range(2)]

    def draw_cells(y, texts, cell_colors, gap=0):
        for i, (text, color) in enumerate(zip(texts, cell_colors, strict=True)):
            x = 74 + 56 * i + gap * (2 * (i // 2) - 1)
            frame(ax, x, y, 56, 24, MUTED, 0.6, facecolor=to_rgba(color, 0.22))
            write(ax, x + 28, y + 12, text)

    def draw_matrix_name(x, y, superscript, color=INK):
        write(ax, x, y, "W", color, ha="left")
        write(ax, x + 14, y - 5, superscript, color, ha="left", size=12.3)

    write(ax, 4, 18, label["x"], ha="left")
    for i, number in enumerate(two_decimals(loop["x"][3])):
        frame(ax, 74 + 56 * i, 6, 56, 24, MUTED, 0.6)
        write(ax, 74 + 56 * i + 28, 18, number)
    line(ax, (75, 34), (75, 40), (297, 40), (297, 34))  # each head reads all four numbers
    for head, (word, color) in enumerate(zip(("we", "why"), colors, strict=True)):
        x = (126, 246)[head]
        arrow(ax, (186, 40), (x, 64), color=color)
        write(ax, x, 76, label["head"].format(head), color, weight="bold")
        frame(ax, x - 52, 88, 104, 26, color, 1.2, facecolor=to_rgba(color, 0.22))
        for i, superscript in enumerate("QKV"):
            draw_matrix_name(x - 44 + 32 * i, 102, superscript)
        write(ax, (118, 254)[head], 130, label["attends"].format(word), size=12.3)
        arrow(ax, (x, 170), ((130, 242)[head], 192), color=color)
    joined = two_decimals(mapped["joined"])
    draw_cells(144, joined, by_head, gap=4)
    write(ax, 4, 208, label["joined"], ha="left")
    draw_cells(196, joined, by_head)
    write(ax, 4, 296, label["times"], ha="left")
    draw_matrix_name(44 if len(label["times"]) > 1 else 22, 296, "O")
    write(ax, 396, 230, label["output"], ha="right")
    rows = zip(mapped["w_output"], two_decimals(mapped["output"]), strict=True)
    for i, (row, number) in enumerate(rows):
        y = 246 + 24 * i
        draw_cells(y, [f"{x:.0f}".replace("-", "−") for x in row.tolist()], by_head)
        write(ax, 324, y + 12, "=", ha="right")
        frame(ax, 330, y + 1, 66, 22, INK, 0, facecolor=to_rgba(INK, 0.14))
        write(ax, 363, y + 12, number)
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
        "split": "拆成头",
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
