"""Figures of the chapter on pitfalls, of its sections on positions and on modules."""

import contextlib
import io

import torch

from figures.diagram import blank_canvas, fill_cells, labeled_grid, line, write
from figures.style import FIRST, INK, SECOND, canvas, figure, signed_image

with contextlib.redirect_stdout(io.StringIO()):  # the pitfalls print when imported
    from pitfalls.batch_first_forgotten import reached, right_layer, wrong_layer
    from pitfalls.exponent_doubled import right_table, wrong_table

SOURCE = ["why", "do", "we", "work", "?"]
OTHER_SOURCE = ["they", "work", "at", "home", "."]


@figure(
    en={"wrong": "wrong", "right": "right", "x": "column", "y": "position"},
    zh={"wrong": "错误", "right": "正确", "x": "列", "y": "位置"},
)
def exponent_doubled(label):
    fig, axes = canvas(height=290, columns=2, sharey=True)
    for ax, name, make in zip(axes, ("wrong", "right"), (wrong_table, right_table), strict=True):
        values = make(60, 64)
        signed_image(ax, (values * 8).round() / 8)  # few shades, a small file
        ax.set_title(label[name])
        ax.set_xlabel(label["x"])
        ax.set_xticks([0, 16, 32, 48, 63])
    axes[0].set_ylabel(label["y"])
    return fig


@figure(
    en={"wrong": "without batch_first", "right": "with batch_first=True"},
    zh={"wrong": "没写 batch_first", "right": "写了 batch_first=True"},
)
def batch_first_forgotten(label):
    size, top, names = 20, 62, [*SOURCE, *OTHER_SOURCE]
    fig, ax = blank_canvas(298)
    torch.manual_seed(0)
    x = torch.randn(2, 5, 16)
    for left, name, layer in ((52, "wrong", wrong_layer()), (316, "right", right_layer())):
        seen = torch.zeros(10, 10, dtype=torch.bool)  # who reads, who is read
        for column in range(10):
            for sentence, position in reached(layer, x, *divmod(column, 5)):
                seen[5 * sentence + position, column] = True
        own = torch.block_diag(torch.ones(5, 5), torch.ones(5, 5)).bool()
        fill_cells(ax, left, top, seen & own, size, SECOND, 0.55)
        fill_cells(ax, left, top, seen & ~own, size, FIRST, 0.55)
        labeled_grid(ax, left, top, names, names, size)
        middle = 5 * size
        line(ax, (left, top + middle), (left + 2 * middle, top + middle), color=INK, width=2)
        line(ax, (left + middle, top), (left + middle, top + 2 * middle), color=INK, width=2)
        write(ax, left + middle, top + 2 * middle + 22, label[name])
    return fig
