"""Figures of the chapter on sublayers."""

from matplotlib.colors import to_rgba
from matplotlib.patches import Circle

from figures.diagram import arrow, blank_canvas, box, line, plus, write
from figures.examples import run_example
from figures.style import FIRST, INK, MUTED, PAPER, SECOND, WIDTH, figure

TEXT = 16  # at least 11 pixels on a phone


def signed(number: float) -> str:
    return f"{number:g}".replace("-", "−")


@figure(
    en={"input": "input", "hidden": "hidden units", "output": "output"},
    zh={"input": "输入", "hidden": "隐藏单元", "output": "输出"},
)
def network(label):
    """The feed-forward network by hand: weights on the edges, units in the circles."""
    values = run_example("examples/sublayers/one_token.py")
    columns = {
        "input": (36, (58, 148), values["x"]),
        "hidden": (200, (58, 148), values["hidden"]),
        "output": (364, (58, 148), values["output"]),
    }
    fig, ax = blank_canvas(176, WIDTH)
    for start, end, weights in (
        ("input", "hidden", values["w1"]),
        ("hidden", "output", values["w2"]),
    ):
        (left, tops, _), (right, bottoms, _) = columns[start], columns[end]
        for i, y in enumerate(tops):
            for j, y_end in enumerate(bottoms):
                unit = j if end == "hidden" else i
                silent = values["hidden"][unit] == 0
                color = MUTED if silent else FIRST if start == "input" else SECOND
                style = {"alpha": 0.45} if silent else {}
                line(ax, (left + 20, y), (right - 20, y_end), color=color, width=1.6, **style)
                x_text = left + 20 + 0.25 * (right - left - 40)  # before any crossing
                y_text = y + 0.25 * (y_end - y)
                paper = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}
                write(ax, x_text, y_text, signed(weights[i, j].item()), color, bbox=paper, zorder=4)
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
    return fig


@figure(
    en={"network": "feed-forward network", "output": "f(x)", "sum": "x + f(x)"},
    zh={"network": "前馈网络", "output": "f(x)", "sum": "x + f(x)"},
)
def around(label):
    """The vector goes around the network and is added to its output."""
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
