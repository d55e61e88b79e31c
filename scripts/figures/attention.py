"""Figures of the chapter on attention."""

import contextlib
import io

import numpy as np
import torch

from figures.diagram import (
    ENGLISH,
    arrow,
    blank_canvas,
    frame,
    label_rows,
    line,
    signed_cells,
    write,
)
from figures.overview import SHOWN, embeddings_of_the_example, encoder_heads, narrow_canvas
from figures.style import (
    FIRST,
    INK,
    KEY,
    MUTED,
    QUERY,
    SECOND,
    VALUE,
    canvas,
    figure,
    powers_of_ten,
)


@figure(
    en={
        "embeddings": "1  token vectors",
        "maps": "2  queries, keys, values",
        "scores": "3  scores",
        "weights": "4  weights",
        "output": "5  weighted sum",
        "softmax": "softmax",
        "divided": "Q Kᵀ / √dₖ",
    },
    zh={
        "embeddings": "1  词元的向量",
        "maps": "2  查询、键和值",
        "scores": "3  分数",
        "weights": "4  权重",
        "output": "5  加权和",
        "softmax": "softmax",
        "divided": "Q Kᵀ / √dₖ",
    },
)
def steps(label):
    """A head of the trained translator's first layer, with six numbers of each vector."""
    head, size, row = encoder_heads()[2], 12, ENGLISH.index("?")
    inputs = embeddings_of_the_example()
    fig, ax = narrow_canvas(252)

    def draw_matrix(x, y, values, largest, framed=True):
        signed_cells(ax, x, y, values.numpy(), size, largest)
        if framed:
            frame(ax, x, y + row * size, values.size(1) * size, size, INK, 1.6, zorder=4)

    write(ax, 4, 16, label["embeddings"], ha="left", weight="bold")
    write(ax, 150, 16, label["maps"], ha="left", weight="bold")
    label_rows(ax, 44, 44, ENGLISH, size)
    draw_matrix(44, 44, inputs[:, :SHOWN], inputs.abs().max().item())
    parts = ("Q", head.query, QUERY), ("K", head.key, KEY), ("V", head.value, VALUE)
    largest = max(vectors[:, :SHOWN].abs().max().item() for _, vectors, _ in parts)
    for x, (name, vectors, color) in zip((150, 236, 322), parts, strict=True):
        write(ax, x + 36, 34, name, color)
        draw_matrix(x, 44, vectors[:, :SHOWN], largest, framed=name == "Q")
    write(ax, 80, 34, "X")
    arrow(ax, (120, 74), (146, 74))
    arrow(ax, (186, 108), (106, 154), color=QUERY)
    arrow(ax, (272, 108), (112, 154), color=KEY)
    arrow(ax, (358, 108), (358, 154), color=VALUE)
    write(ax, 4, 142, label["scores"], ha="left", weight="bold")
    write(ax, 190, 142, label["weights"], ha="left", weight="bold")
    write(ax, 291, 178, "· V", MUTED, size=12)
    label_rows(ax, 74, 160, ENGLISH, size)
    draw_matrix(74, 160, head.scores, head.scores.abs().max().item())
    write(ax, 104, 242, label["divided"], MUTED, size=12)
    arrow(ax, (138, 190), (196, 190))
    write(ax, 167, 178, label["softmax"], MUTED, size=12)
    draw_matrix(200, 160, head.weights, 1)
    arrow(ax, (264, 190), (318, 190))
    draw_matrix(322, 160, (head.weights @ head.value)[:, :SHOWN], largest)
    write(ax, 394, 242, label["output"], ha="right", weight="bold")
    return fig


@figure(
    en={
        "query": "query of work",
        "key": "key",
        "score": "score",
        "divided": "÷ √2",
        "weight": "weight",
        "value": "value",
        "output": "output",
    },
    zh={
        "query": "work 的查询",
        "key": "键",
        "score": "分数",
        "divided": "÷ √2",
        "weight": "权重",
        "value": "值",
        "output": "输出",
    },
)
def look_up(label):
    query = np.array([2.0, 0.0])
    keys = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, -1.0]])
    values = np.array([[10.0, 0.0], [0.0, 10.0], [5.0, 5.0]])
    scores = keys @ query
    exponentials = np.exp(scores / 2**0.5)
    weights = exponentials / exponentials.sum()
    output = weights @ values
    fig, ax = blank_canvas(250)

    def draw_pair(x, y, numbers, color, form="{:.0f}"):
        text = ", ".join(form.format(number) for number in numbers).replace("-", "−")
        width = 66 if len(text) < 8 else 104
        frame(ax, x - width / 2, y - 14, width, 28, color, 1)
        write(ax, x, y, f"({text})", color)

    write(ax, 190, 20, label["query"], QUERY)
    draw_pair(290, 20, query, QUERY)
    heads = [
        (90, label["key"], KEY),
        (160, label["score"], INK),
        (222, label["divided"], INK),
        (340, label["weight"], INK),
        (470, label["value"], VALUE),
    ]
    for x, text, color in heads:
        write(ax, x, 66, text, color)
    for i, word in enumerate(["we", "work", "?"]):
        y = 102 + 38 * i
        write(ax, 26, y, word)
        draw_pair(90, y, keys[i], KEY)
        write(ax, 160, y, f"{scores[i]:.0f}")
        write(ax, 222, y, f"{scores[i] / 2**0.5:.2f}")
        frame(ax, 262, y - 11, 100 * weights[i], 22, FIRST, 0, facecolor=FIRST)
        write(ax, 268 + 100 * weights[i], y, f"{weights[i]:.2f}", ha="left")
        write(ax, 412, y, "×")
        draw_pair(470, y, values[i], VALUE)
    line(ax, (415, 202), (515, 202), width=1)
    write(ax, 408, 226, label["output"], ha="right")
    draw_pair(465, 226, output, VALUE, "{:.2f}")
    return fig


@figure(
    en={
        "queries": "queries",
        "keys": "keys",
        "values": "values",
        "scores": "scores",
        "scaled": "scaled",
        "mask": "mask",
        "may": "may read?",
        "exponentials": "exponentials",
        "weights": "weights",
        "sum": "÷ sum of row",
        "output": "output",
        "average": "weights · V",
    },
    zh={
        "queries": "查询",
        "keys": "键",
        "values": "值",
        "scores": "分数",
        "scaled": "缩放后",
        "mask": "掩码",
        "may": "可以看吗",
        "exponentials": "e 的幂",
        "weights": "权重",
        "sum": "÷ 行的和",
        "output": "输出",
        "average": "权重 · V",
    },
)
def by_hand(label):
    """The initial state of the page's widget, with the same layout."""
    with contextlib.redirect_stdout(io.StringIO()):
        from examples.attention import by_hand as numbers
    fig, ax = blank_canvas(470)
    steps = numbers.scores, numbers.scaled, numbers.exponentials, numbers.weights, numbers.output
    scores, scaled, exponentials, weights, output = (step.tolist() for step in steps)
    panels = [
        (label["queries"], "Q", numbers.query.tolist(), QUERY),
        (label["keys"], "K", numbers.key.tolist(), KEY),
        (label["values"], "V", numbers.value.tolist(), VALUE),
        (label["scores"], "Q Kᵀ", scores, QUERY),
        (label["scaled"], "÷ √2", scaled, QUERY),
        (label["mask"], label["may"], [[True] * 3] * 3, QUERY),
        (label["exponentials"], "eˣ", exponentials, QUERY),
        (label["weights"], label["sum"], weights, QUERY),
        (label["output"], label["average"], output, QUERY),
    ]

    def format_number(x) -> str:
        if x is True:
            return "True"
        return (f"{x:.0f}" if x == round(x) else f"{x:.3f}").replace("-", "−")

    def draw_matrix(x, y, title, formula, rows, side):
        write(ax, x, y, title, ha="left", weight="bold")
        write(ax, x + 160, y, formula, MUTED, ha="right")
        heads = numbers.words if len(rows[0]) == 3 else ["1", "2"]
        for j, head in enumerate(heads):
            write(ax, x + 56 + 42 * j, y + 26, head, KEY if len(heads) == 3 else MUTED, size=11.5)
        for i, row in enumerate(rows):
            write(ax, x, y + 52 + 28 * i, numbers.words[i], side, ha="left", size=11.5)
            for j, number in enumerate(row):
                corner = x + 36 + 42 * j, y + 39 + 28 * i
                if rows is weights:
                    frame(ax, *corner, 40, 26, FIRST, 0, facecolor=FIRST, alpha=0.4 * number)
                frame(ax, *corner, 40, 26, MUTED, 0.5)
                write(ax, corner[0] + 20, corner[1] + 13, format_number(number), size=12)

    for index, (title, formula, rows, side) in enumerate(panels):
        draw_matrix(6 + 174 * (index % 3), 16 + 158 * (index // 3), title, formula, rows, side)
    return fig


@figure(
    en={
        "divided": "divided",
        "undivided": "d = {}, not divided",
        "weight": "weight",
        "slope": "slope",
        "rank": "64 keys, by rank",
    },
    zh={
        "divided": "除以 √d",
        "undivided": "d = {}，不除",
        "weight": "权重",
        "slope": "斜率",
        "rank": "64 个键，按名次",
    },
)
def saturation(label):
    torch.manual_seed(0)
    scores = torch.randn(2000, 64, dtype=torch.float64).sort(descending=True).values
    fig, axes = canvas(height=330, rows=2, columns=3, sharex=True, sharey="row")
    titles = [label["divided"], *(label["undivided"].format(d) for d in (64, 512))]
    for (top, bottom), std, title in zip(axes.T, (1, 8, 22.6), titles, strict=True):
        weights = (std * scores).softmax(dim=-1)
        slope = (weights * (1 - weights)).median(dim=0).values
        top.set_title(title)
        top.stairs(weights.mean(dim=0), np.arange(65) + 0.5, fill=True, color=FIRST)
        bottom.plot(range(1, 65, 3), slope[::3], color=SECOND)
        bottom.axhline(1e-6, color=MUTED, linewidth=1, linestyle=(0, (3, 3)))
    axes[0, 0].set_ylim(0, 1)
    axes[0, 0].set_ylabel(label["weight"])
    axes[1, 0].set_yscale("log")
    axes[1, 0].set_ylim(1e-12, 1)
    axes[1, 0].set_yticks([1, 1e-3, 1e-6, 1e-9, 1e-12])
    powers_of_ten(axes[1, 0].yaxis)
    axes[1, 0].set_ylabel(label["slope"])
    axes[1, 0].set_xticks([1, 32, 64])
    axes[1, 1].set_xlabel(label["rank"])
    return fig
