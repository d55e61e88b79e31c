"""Figures of the chapter on what the model has learned."""

import numpy as np

from figures.diagram import signed_cells, write
from figures.overview import narrow_canvas
from figures.recorded import recorded_lines
from figures.style import MUTED, figure


@figure(
    en={"columns": "the source →", "rows": "about to be written ↓"},
    zh={"columns": "原文 →", "rows": "即将写出 ↓"},
)
def reversal(label):
    rows = recorded_lines("examples/learned/reversal")[:5]
    mean = np.array([[float(number) for number in row.split()] for row in rows])
    letters, size, left, top = "abcde", 52, 76, 48
    fig, ax = narrow_canvas(top + len(letters) * size + 8)
    write(ax, left + 2.5 * size, 14, label["columns"], MUTED, ha="left")
    write(ax, 8, 14, label["rows"], MUTED, ha="left")
    signed_cells(ax, left, top, mean, size, 1 / 0.55)  # background of numbers
    for i, row in enumerate(mean.tolist()):
        write(ax, left - 20, top + (i + 0.5) * size, letters[-1 - i], size=16)
        write(ax, left + (i + 0.5) * size, top - 14, letters[i], size=16)
        for j, weight in enumerate(row):
            write(ax, left + (j + 0.5) * size, top + (i + 0.5) * size, f"{weight:.2f}")
    return fig
