"""Figures of the chapter on multi-head attention."""

import numpy as np

from figures.diagram import (
    ENGLISH,
    arrow,
    blank_canvas,
    fill_cells,
    grid,
    label_columns,
    label_rows,
    signed_cells,
    write,
)
from figures.examples import run_example
from figures.overview import encoder_heads, narrow_canvas
from figures.style import INK, KEY, MUTED, PAPER, QUERY, VALUE, canvas, figure, signed_image

STRONG, PALE = 0.85, 0.35  # opacity of the first and the second head


@figure(
    en={"head": "head {}", "weights": "weights", "join": "join", "output": "output"},
    zh={"head": "{} 号头", "weights": "权重", "join": "拼接", "output": "输出"},
)
def heads(label):
    n, d, size = 5, 8, 8
    fig, ax = narrow_canvas(186)

    def draw_matrix(x, y, columns, color, opacity):
        """A matrix of five rows, with its left edge at x and its middle at y."""
        corner = x, y - n * size / 2
        fill_cells(ax, *corner, np.ones((n, columns)), size, color, opacity)
        grid(ax, *corner, n, columns, size, PAPER, 1)

    def draw_shape(x, y, text):
        write(ax, x, y, text, MUTED, size=12)

    draw_matrix(4, 96, d, INK, 0.45)
    write(ax, 36, 62, "X")
    draw_shape(36, 130, "(5, 8)")
    for head, (y, opacity) in enumerate(((44, STRONG), (148, PALE))):
        arrow(ax, (72, 96), (92, y))
        write(ax, 158, y - 32, label["head"].format(head))
        for x, color in zip((96, 134, 172), (QUERY, KEY, VALUE), strict=True):
            draw_matrix(x, y, d // 2, color, opacity)
        arrow(ax, (208, y), (218, y))
        draw_matrix(221, y, n, INK, opacity * 0.6)
        arrow(ax, (263, y), (273, y))
        draw_matrix(276, y, d // 2, VALUE, opacity)
        arrow(ax, (310, y), (328, 96 + (y - 96) / 3))
    write(ax, 241, 96, label["weights"], MUTED, size=12)
    draw_matrix(332, 96, d // 2, VALUE, STRONG)
    draw_matrix(332 + size * d / 2, 96, d // 2, VALUE, PALE)
    write(ax, 364, 62, label["join"])
    arrow(ax, (364, 120), (364, 142))
    write(ax, 380, 131, "Wᴼ")
    draw_shape(364, 152, "(5, 8)")
    write(ax, 364, 172, label["output"])
    return fig


@figure(
    en={
        "linear": "one head, linear map",
        "feed-forward": "one head, feed-forward",
        "first": "first of two, linear map",
        "second": "second of two, linear map",
    },
    zh={
        "linear": "一个头，接线性映射",
        "feed-forward": "一个头，接前馈网络",
        "first": "两个头之一，接线性映射",
        "second": "两个头之二，接线性映射",
    },
)
def neighbors(label):
    trained = run_example("examples/multi-head-attention/two_neighbors.py")["trained"]
    two = trained["linear map", 2][1]
    shown = {
        "linear": trained["linear map", 1][1][0],
        "feed-forward": trained["feed-forward", 1][1][0],
        "first": two[0],
        "second": two[1],
    }
    fig, axes = canvas(height=470, rows=2, columns=2, sharex=True, sharey=True)
    for ax, (name, weights) in zip(axes.flat, shown.items(), strict=True):
        weights = weights.double().numpy().round(2)
        signed_image(ax, weights, aspect="equal")
        ax.set_title(label[name])
        ax.set_xticks(range(5), ENGLISH, rotation=45)
        ax.set_yticks(range(5), ENGLISH)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(True)
        for row, column in np.argwhere(weights >= 0.1):
            write(ax, column, row, f"{weights[row, column]:.1f}"[1:], size=11)
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
        write(ax, 4, y + 10, shape, ha="left", size=12)

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
        draw_matrix(x + 62, 335, n, n, INK, opacity * 0.6)
        draw_matrix(x - 68, 425, n, n, INK, opacity * 0.6)
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


@figure(en={"one": "head 2", "other": "head 3"}, zh={"one": "2 号头", "other": "3 号头"})
def trained_head(label):
    fig, ax = narrow_canvas(232)
    size = 24
    first_layer = [head for head in encoder_heads() if head.layer == 1]
    for x, head, name in (60, first_layer[2], "one"), (264, first_layer[3], "other"):
        weights = head.weights.numpy()
        write(ax, x + 2.5 * size, 14, label[name], weight="bold")
        signed_cells(ax, x, 84, weights, size, largest=1)
        label_columns(ax, x, 84, ENGLISH, size)
        label_rows(ax, x, 84, ENGLISH, size)
        for i, j in np.argwhere(weights >= 0.2):
            text = f"{weights[i, j]:.1f}".removeprefix("0")
            write(ax, x + (j + 0.5) * size, 84 + (i + 0.5) * size, text, size=12)
    return fig
