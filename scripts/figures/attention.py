"""Figures of the chapter on attention."""

import contextlib
import io
import json
from pathlib import Path

import numpy as np
import torch
from matplotlib.ticker import NullLocator

import transformer
from figures.diagram import ENGLISH, arrow, blank_canvas, fill_cells, frame, grid, line, write
from figures.style import (
    FIRST,
    INK,
    KEY,
    MUTED,
    PAPER,
    QUERY,
    SECOND,
    THIRD,
    VALUE,
    canvas,
    figure,
    powers_of_ten,
    signed_image,
)

RESULTS = Path(transformer.__file__).with_name("results")
STRONG, PALE = 0.85, 0.35  # opacity of the first and the second head


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
    powers = np.exp(scores / 2**0.5)
    weights = powers / powers.sum()
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
        "powers": "powers",
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
        "powers": "e 的幂",
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
    steps = numbers.scores, numbers.scaled, numbers.powers, numbers.weights, numbers.output
    scores, scaled, powers, weights, output = (step.tolist() for step in steps)
    panels = [
        (label["queries"], "Q", numbers.query.tolist(), QUERY),
        (label["keys"], "K", numbers.key.tolist(), KEY),
        (label["values"], "V", numbers.value.tolist(), VALUE),
        (label["scores"], "Q Kᵀ", scores, QUERY),
        (label["scaled"], "÷ √2", scaled, QUERY),
        (label["mask"], label["may"], [[True] * 3] * 3, QUERY),
        (label["powers"], "eˣ", powers, QUERY),
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


@figure(
    en={
        "divided": "divided",
        "not divided": "not divided",
        "smaller W_Q": "not divided, small start",
        "never": "never",
        "steps": "steps",
        "rate": "learning rate",
    },
    zh={
        "divided": "除",
        "not divided": "不除",
        "smaller W_Q": "不除，起点小",
        "never": "未达到",
        "steps": "步数",
        "rate": "学习率",
    },
)
def training(label):
    measured = json.loads((RESULTS / "scaling.json").read_text())
    never = 1.1 * measured["steps"]
    runs = [run for run in measured["runs"] if run["layers"] == 0]
    sizes, rates, variants, seeds = (
        list(dict.fromkeys(run[field] for run in runs))
        for field in ("d_k", "rate", "variant", "seed")
    )
    steps = np.array([run["nine of ten after"] or never for run in runs])
    steps = steps.reshape(len(sizes), len(rates), len(variants), len(seeds))
    fig, axes = canvas(height=300, columns=3, sharey=True)
    for ax, d_k, of_size in zip(axes, sizes, steps, strict=True):
        for i, style in enumerate(("o-", "s--", "^:")):
            x, y = np.arange(len(rates)) + 0.2 * (i - 1), of_size[:, i]
            color = (FIRST, SECOND, THIRD)[i]
            ranges = np.stack([y.min(axis=1), y.max(axis=1), np.full(len(y), np.nan)], axis=1)
            ax.plot(np.repeat(x, 3), ranges.flatten(), color=color, linewidth=1)
            ax.plot(x, np.median(y, axis=1), style, color=color, label=label[variants[i]])
        ax.set_title(f"d = {d_k}")
        ax.set_xticks(range(len(rates)), [f"{rate:g}" for rate in rates], rotation=45)
    axes[0].set_yticks([0, 100, 200, 300, never], ["0", "100", "200", "300", label["never"]])
    axes[0].set_ylabel(label["steps"])
    axes[1].set_xlabel(label["rate"])
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


@figure(
    en={"one": "one head", "first": "first of two", "second": "second of two"},
    zh={"one": "只有一个头", "first": "两个头之一", "second": "两个头之二"},
)
def neighbours(label):
    with contextlib.redirect_stdout(io.StringIO()):
        from examples.attention.two_neighbours import trained
    one, two = trained[1][1], trained[2][1]
    fig, axes = canvas(height=215, columns=3, sharey=True)
    names = ("one", "first", "second")
    for ax, name, weights in zip(axes, names, (one[0], two[0], two[1]), strict=True):
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
        "head": "第 {} 个头",
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
    for x, opacity, head in (200, STRONG, 1), (415, PALE, 2):
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
        arrow(ax, (x + 52, 452), (285 if head == 1 else 325, 490))
    draw_step_label(515, "join", "(5, 8)")
    draw_matrix(287, 515, n, head_dim, VALUE, STRONG)
    draw_matrix(287 + 4 * size, 515, n, head_dim, VALUE, PALE)
    arrow(ax, (305, 541), (305, 571))
    write(ax, 325, 555, "Wᴼ")
    draw_step_label(597, "output", "(5, 8)")
    draw_matrix(305, 597, n, d, INK, 0.45)
    return fig


@figure(
    en={
        "time": "seconds",
        "memory": "megabytes",
        "length": "tokens",
        "explicit": "explicit",
        "fused": "fused",
    },
    zh={
        "time": "秒",
        "memory": "MB",
        "length": "词元数",
        "explicit": "显式",
        "fused": "融合",
    },
)
def cost(label):
    measured = json.loads((RESULTS / "attention.json").read_text())
    lengths = measured["lengths"]
    fig, axes = canvas(height=280, columns=2)
    for ax, field, unit, name in zip(
        axes, ("seconds", "bytes"), (1, 1e6), ("time", "memory"), strict=True
    ):
        for path, color, style in ("explicit", FIRST, "-"), ("fused", SECOND, "--"):
            values = [value / unit for value in measured[path][field]]
            ax.plot(lengths, values, style, marker="o", markersize=4, color=color)
            is_above = path == "explicit"
            ax.annotate(
                label[path],
                (lengths[-2], values[-2]),
                xytext=(-8, 8) if is_above else (8, -8),
                textcoords="offset points",
                ha="right" if is_above else "left",
                va="center",
                color=color,
            )
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_xticks(lengths[::2], [str(length) for length in lengths[::2]])
        ax.set_title(label[name])
        ax.set_xlabel(label["length"])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_minor_locator(NullLocator())
        ax.grid(axis="y")
    axes[0].set_yticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
    axes[1].set_yticks([10, 100, 1000], ["10", "100", "1000"])
    return fig
