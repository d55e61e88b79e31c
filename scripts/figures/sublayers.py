"""Figures of the chapter on sublayers."""

from matplotlib.colors import to_rgba
from matplotlib.patches import Circle

from figures.diagram import arrow, blank_canvas, box, line, write
from figures.examples import run_example
from figures.recorded import recorded_lines
from figures.style import (
    FIRST,
    INK,
    MUTED,
    PAPER,
    SECOND,
    WIDTH,
    canvas,
    figure,
    powers_of_ten,
)

TEXT = 16  # at least 11 pixels on a phone


@figure(
    en={"x": "sum a + b − 1", "without": "without ReLU"},
    zh={"x": "总和 a + b − 1", "without": "没有 ReLU"},
)
def relu(label):
    """ReLU, with the sums of the table of XOR."""
    fig, ax = canvas(190)
    ax.plot([-1.6, 0, 1.6], [0, 0, 1.6], color=FIRST)
    ax.plot([-1.6, 0], [-1.6, 0], color=MUTED, ls=":", lw=1.4)
    for a, b in (0, 0), (1, 0), (0, 1), (1, 1):
        s = a + b - 1
        ax.plot([s], [max(0, s)], marker="o", color=FIRST, markersize=7)
    for x, y, text in (
        (-1, 0.14, "(0, 0)"),
        (0.52, -0.4, "(1, 0)  (0, 1)"),
        (0.74, 1.14, "(1, 1)"),
    ):
        ax.text(x, y, text, ha="center", size=13)
    ax.plot([-1], [-1], marker="o", markersize=7, markerfacecolor=PAPER, color=MUTED)
    ax.annotate(
        "", (-1, -0.12), (-1, -0.88), arrowprops={"arrowstyle": "-|>", "color": MUTED, "lw": 1.2}
    )
    ax.set_xticks([-1, 0, 1], ["−1", "0", "1"])
    ax.set_yticks([-1, 0, 1], ["−1", "0", "1"])
    ax.set_ylim(-1.3, 1.6)
    ax.set_xlabel(label["x"])
    ax.set_ylabel("h₂")
    ax.text(-0.9, -1.08, label["without"], ha="left", va="center", color=MUTED, size=13)
    return fig


def signed(number: float) -> str:
    return f"{number:.0f}".replace("-", "−")


@figure(
    en={"token": "token", "hidden": "hidden units", "output": "output", "bias": "bias"},
    zh={"token": "词元", "hidden": "隐藏单元", "output": "输出", "bias": "偏置"},
)
def network(label):
    """The feed-forward network by hand: weights on the edges, units in the circles."""
    values = run_example("examples/sublayers/one_token.py")
    columns = {
        "token": (36, (78, 178), values["x"]),
        "hidden": (200, (58, 128, 198), values["hidden"]),
        "output": (364, (78, 178), values["output"]),
    }
    fig, ax = blank_canvas(246, WIDTH)
    for start, end, weights in (
        ("token", "hidden", values["w1"]),
        ("hidden", "output", values["w2"]),
    ):
        (left, tops, _), (right, bottoms, _) = columns[start], columns[end]
        for i, y in enumerate(tops):
            for j, y_end in enumerate(bottoms):
                weight = weights[i, j].item()
                if weight == 0:
                    continue
                unit = j if end == "hidden" else i
                silent = values["hidden"][unit] == 0
                color = MUTED if silent else FIRST if start == "token" else SECOND
                style = {"alpha": 0.45} if silent else {}
                line(ax, (left + 20, y), (right - 20, y_end), color=color, width=1.6, **style)
                x_text = left + 20 + 0.25 * (right - left - 40)  # before any crossing
                y_text = y + 0.25 * (y_end - y)
                paper = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}
                write(ax, x_text, y_text, signed(weight), color, bbox=paper, zorder=4)
    for name, (x, ys, numbers) in columns.items():
        write(ax, x, 16, label[name], MUTED)
        for y, number in zip(ys, numbers.tolist(), strict=True):
            silent = name == "hidden" and number == 0
            color = MUTED if silent else INK
            fill = to_rgba(MUTED, 0.25) if silent else PAPER
            ax.add_patch(
                Circle((x, y), 18, edgecolor=color, facecolor=fill, linewidth=1.5, zorder=5)
            )
            write(ax, x, y, signed(number), color, size=15, zorder=6)
    for y, number in zip(columns["hidden"][1], values["b1"].tolist(), strict=True):
        if number:
            write(ax, 200, y + 32, f"{label['bias']} {signed(number)}", MUTED)
    return fig


@figure(
    en={
        "x": "layer",
        "y": "mean gradient",
        "without": "without",
        "with": "with residual connections",
    },
    zh={"x": "层", "y": "梯度的平均大小", "without": "没有残差连接", "with": "有残差连接"},
)
def gradients(label):
    """The ten gradients that the example prints."""
    sizes = [float(row.split()[-1]) for row in recorded_lines("examples/sublayers/shortcut")]
    fig, ax = canvas(210)
    half = len(sizes) // 2
    for offset, part, color, name in (
        (-0.2, sizes[:half], SECOND, "without"),
        (0.2, sizes[half:], FIRST, "with"),
    ):
        places = [layer + offset for layer in range(half)]
        ax.bar(places, part, width=0.38, color=color, label=label[name])
    ax.set_yscale("log")
    ax.set_ylim(1e-5, 1)
    ax.set_yticks([1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1])
    powers_of_ten(ax.yaxis)
    ax.set_xticks(range(half))
    ax.set_xlabel(label["x"])
    ax.set_ylabel(label["y"])
    fig.legend(loc="outside upper center", ncols=2)
    return fig


@figure(
    en={
        "tokens": "why do we work ?",
        "attention": "attention: mixes all positions",
        "network": "FFN",
        "same": "feed-forward: each position by itself",
    },
    zh={
        "tokens": "why do we work ?",
        "attention": "注意力：混合所有位置",
        "network": "FFN",
        "same": "前馈网络：每个位置单独计算",
    },
)
def position_wise(label):
    fig, ax = blank_canvas(296)
    xs = [60 + 100 * i for i in range(5)]
    write(ax, 260, 14, label["same"], FIRST, size=TEXT)
    write(ax, 260, 282, label["attention"], SECOND, size=TEXT)
    for x, word in zip(xs, label["tokens"].split(), strict=True):
        write(ax, x, 250, word, size=TEXT)
        for other in xs:
            line(ax, (x, 230), (other, 140), color=SECOND, width=1, alpha=0.65)
        arrow(ax, (x, 136), (x, 107), color=FIRST)
        box(ax, x - 28, 75, 56, 32, FIRST, label["network"], size=TEXT)
        arrow(ax, (x, 75), (x, 42), color=FIRST)
    for y in 230, 140, 38:
        ax.plot(xs, [y] * 5, "o", color=INK, markersize=5, clip_on=False)
    return fig


@figure(
    en={
        "token": "we",
        "sums": "sums",
        "hidden": "hidden units",
        "output": "f(x)",
        "sum": "x + f(x)",
    },
    zh={"token": "we", "sums": "总和", "hidden": "隐藏单元", "output": "f(x)", "sum": "x + f(x)"},
)
def around(label):
    fig, ax = blank_canvas(430)
    trunk, branch = 40, 300
    rows = {
        "token": (410, "−0.47  −1.18  1.30  1.86"),
        "sums": (298, "−0.94  2.42  −2.89  3.04"),
        "hidden": (218, "0  2.42  0  3.04"),
        "output": (108, "−0.80  3.84  2.66  3.42"),
        "sum": (20, "−1.27  2.66  3.96  5.28"),
    }
    line(ax, (branch, 410), (trunk, 410), color=FIRST, width=2.6)
    arrow(ax, (trunk, 410), (trunk, 75), color=FIRST, width=2.6)
    arrow(ax, (branch, 398), (branch, 370), color=INK)
    arrow(ax, (branch, 340), (branch, 310), color=INK)
    line(ax, (branch, 286), (branch, 273), color=INK)
    arrow(ax, (branch, 243), (branch, 228), color=INK)
    arrow(ax, (branch, 206), (branch, 180), color=INK)
    arrow(ax, (branch, 150), (branch, 120), color=INK)
    arrow(ax, (branch, 96), (branch, 63), (trunk + 13, 63), color=INK)
    arrow(ax, (trunk, 51), (trunk, 20), (150, 20), color=FIRST, width=2.6)
    for y, text in (355, "W₁, b₁"), (258, "ReLU"), (165, "W₂, b₂"):
        box(ax, branch - 60, y - 15, 120, 30, SECOND, text, size=TEXT)
    ax.add_patch(Circle((trunk, 63), 12, edgecolor=FIRST, facecolor=PAPER, linewidth=1.5))
    line(ax, (trunk - 6, 63), (trunk + 6, 63), color=FIRST, width=1.5)
    line(ax, (trunk, 57), (trunk, 69), color=FIRST, width=1.5)
    paper = {"facecolor": PAPER, "edgecolor": "none", "pad": 3}
    for name, (y, numbers) in rows.items():
        x = 265 if name == "sum" else branch
        write(
            ax,
            x,
            y,
            numbers.replace("  ", "\u2003"),
            FIRST if name in ("token", "sum") else INK,
            size=TEXT,
            bbox=paper,
        )
        write(ax, 512, y, label[name], ha="right", size=TEXT)
    return fig
