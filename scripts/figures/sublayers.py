"""Figures of the chapter on sublayers."""

from matplotlib.colors import to_rgba
from matplotlib.patches import Circle

from figures.diagram import arrow, blank_canvas, box, line, plus, write
from figures.examples import run_example
from figures.style import FIRST, INK, MUTED, PAPER, SECOND, WIDTH, figure

TEXT = 16  # at least 11 pixels on a phone


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
    en={"network": "feed-forward network", "output": "f(x)", "sum": "x + f(x)"},
    zh={"network": "前馈网络", "output": "f(x)", "sum": "x + f(x)"},
)
def around(label):
    """The token goes around the network and is added to its output."""
    values = run_example("examples/sublayers/one_token.py")
    x, output = values["x"], values["output"]
    fig, ax = blank_canvas(266)
    trunk, branch = 40, 280
    line(ax, (branch, 246), (trunk, 246), color=FIRST, width=2.6)
    arrow(ax, (trunk, 246), (trunk, 82), color=FIRST, width=2.6)
    arrow(ax, (branch, 234), (branch, 196), color=INK)
    arrow(ax, (branch, 162), (branch, 128), color=INK)
    arrow(ax, (branch, 104), (branch, 70), (trunk + 13, 70), color=INK)
    arrow(ax, (trunk, 58), (trunk, 20), (branch - 40, 20), color=FIRST, width=2.6)
    box(ax, branch - 115, 162, 230, 34, SECOND, label["network"], size=TEXT)
    plus(ax, trunk, 70)
    paper = {"facecolor": PAPER, "edgecolor": "none", "pad": 3}
    for y, vector, color, name in (
        (246, x, FIRST, "x"),
        (116, output, INK, label["output"]),
        (20, x + output, FIRST, label["sum"]),
    ):
        text = ", ".join(signed(number) for number in vector.tolist())
        write(ax, branch, y, f"({text})", color, size=TEXT, bbox=paper)
        write(ax, 512, y, name, ha="right", size=TEXT)
    return fig
