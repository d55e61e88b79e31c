"""Figures of the page on linear attention."""

from figures.diagram import arrow, box, write
from figures.examples import run_example
from figures.overview import narrow_canvas
from figures.style import FIRST, MUTED, SECOND, THIRD, VALUE, canvas, figure


def draw_state(ax, x, y, state, changed, size=36) -> None:
    """A 2 x 2 state at (x, y), with its first row in color if it has changed."""
    for i, row in enumerate(state):
        for j, number in enumerate(row):
            color = VALUE if changed and i == 0 else MUTED
            text = f"{number:g}"
            box(ax, x + j * size, y + i * size, size - 3, size - 3, color, text, size=15)


@figure(
    en={"before": "before", "sum": "sum", "delta": "delta rule, β = {}"},
    zh={"before": "写入之前", "sum": "相加", "delta": "delta 规则，β = {}"},
)
def writes(label):
    """The value (1, 1) is written with the key (1, 0) into a state that has (3, 5) there."""
    stored, value = ((3, 5), (2, 4)), (1, 1)
    fig, ax = narrow_canvas(286)
    draw_state(ax, 24, 117, stored, changed=False)
    write(ax, 58, 204, label["before"])
    for i, beta in enumerate((None, 1, 0.5)):
        top = 12 + 96 * i
        kept = [x if beta is None else (1 - beta) * x for x in stored[0]]
        first = [k + (beta or 1) * v for k, v in zip(kept, value, strict=True)]
        arrow(ax, (104, 152), (176, top + 35))
        draw_state(ax, 186, top, (first, stored[1]), changed=True)
        name = label["sum"] if beta is None else label["delta"].format(beta)
        write(ax, 272, top + 34, name, ha="left")
    return fig


@figure(
    en={
        "sum": "sum",
        "delta rule": "delta rule",
        "attention": "attention",
        "pairs": "pairs with random keys",
        "error": "error",
    },
    zh={
        "sum": "相加",
        "delta rule": "delta 规则",
        "attention": "注意力",
        "pairs": "键随机时的键值对个数",
        "error": "误差",
    },
)
def recall(label):
    mean_errors = run_example("examples/linear-attention/recall.py")["mean_errors"]
    counts = [2**i for i in range(2, 11)]
    found = [mean_errors(n) for n in counts]
    fig, ax = canvas(height=230)
    for name, color in (("sum", FIRST), ("delta rule", SECOND), ("attention", THIRD)):
        ax.plot(counts, [errors[name] for errors in found], "o-", color=color, label=label[name])
    ax.set_xscale("log", base=2)
    ax.set_xticks(counts[::2], [str(n) for n in counts[::2]])
    ax.set_xlabel(label["pairs"])
    ax.set_ylabel(label["error"])
    ax.grid()
    ax.legend()
    return fig
