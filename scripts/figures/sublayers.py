"""Figures of the chapter on sublayers."""

from matplotlib.patches import Circle

from figures.diagram import arrow, blank_canvas, box, line, write
from figures.style import FIRST, INK, PAPER, SECOND, figure

TEXT = 16  # at least 11 pixels on a phone


@figure(
    en={
        "tokens": "why do we work ?",
        "attention": "attention: all positions",
        "network": "FFN",
        "same": "feed-forward: each position by itself",
    },
    zh={
        "tokens": "why do we work ?",
        "attention": "注意力：所有位置",
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
    zh={"token": "we", "sums": "和", "hidden": "隐藏单元", "output": "f(x)", "sum": "x + f(x)"},
)
def around(label):
    fig, ax = blank_canvas(430)
    trunk, branch = 40, 300
    rows = {
        "token": (20, "−0.47  −1.18  1.30  1.86"),
        "sums": (132, "−0.94  2.42  −2.89  3.04"),
        "hidden": (212, "0  2.42  0  3.04"),
        "output": (322, "−0.80  3.84  2.66  3.42"),
        "sum": (410, "−1.27  2.66  3.96  5.28"),
    }
    line(ax, (branch, 20), (trunk, 20), color=FIRST, width=2.6)
    arrow(ax, (trunk, 20), (trunk, 355), color=FIRST, width=2.6)
    arrow(ax, (branch, 32), (branch, 60), color=INK)
    arrow(ax, (branch, 90), (branch, 120), color=INK)
    line(ax, (branch, 144), (branch, 157), color=INK)
    arrow(ax, (branch, 187), (branch, 202), color=INK)
    arrow(ax, (branch, 224), (branch, 250), color=INK)
    arrow(ax, (branch, 280), (branch, 310), color=INK)
    arrow(ax, (branch, 334), (branch, 367), (trunk + 13, 367), color=INK)
    arrow(ax, (trunk, 379), (trunk, 410), (150, 410), color=FIRST, width=2.6)
    for y, text in (75, "W₁, b₁"), (172, "ReLU"), (265, "W₂, b₂"):
        box(ax, branch - 60, y - 15, 120, 30, SECOND, text, size=TEXT)
    ax.add_patch(Circle((trunk, 367), 12, edgecolor=FIRST, facecolor=PAPER, linewidth=1.5))
    line(ax, (trunk - 6, 367), (trunk + 6, 367), color=FIRST, width=1.5)
    line(ax, (trunk, 361), (trunk, 373), color=FIRST, width=1.5)
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
