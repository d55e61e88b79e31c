"""Figures of the chapter on attention."""

import numpy as np
import torch
from matplotlib.colors import to_rgba

from figures.diagram import ENGLISH, arrow, blank_canvas, frame, line, write
from figures.examples import run_example
from figures.overview import narrow_canvas
from figures.style import FIRST, INK, KEY, MUTED, QUERY, SECOND, VALUE, WEIGHT, canvas, figure


def texts(vector, places) -> list[str]:
    """The numbers of a vector, with true minus signs."""
    return [f"{number:.{places}f}".replace("-", "−") for number in vector.tolist()]


@figure(en={"new": "new vector of work"}, zh={"new": "work 的新向量"})
def average(label):
    """Three columns of numbers; two of them are mixed."""
    shown = run_example("examples/attention/dot_products.py")
    weights = torch.tensor([0.6, 0.4, 0.0])
    fig, ax = narrow_canvas(218)

    def draw_column(x, y, vector, places, color, tint):
        for i, number in enumerate(vector.tolist()):
            text = f"{number:.{places}f}".replace("-", "−")
            face = to_rgba(color, tint)
            frame(ax, x - 26, y + 22 * i, 52, 22, MUTED, 0.6, facecolor=face)
            write(ax, x, y + 22 * i + 11, text, INK if tint else MUTED)

    colors = {"we": FIRST, "work": SECOND}
    for i, (word, weight) in enumerate(zip(shown["words"], weights.tolist(), strict=True)):
        x, color = 120 + 80 * i, colors.get(word, MUTED)
        write(ax, x, 14, word, INK if weight else MUTED)
        draw_column(x, 28, shown["x"][i], 0, color, 0.3 if weight else 0)
        write(ax, x, 108, f"{weight:g}", INK if weight else MUTED)
        if weight:
            line(ax, (x, 120), (200, 146), color=color, width=10 * weight)
    draw_column(200, 146, weights @ shown["x"], 1, INK, 0.12)
    write(ax, 160, 179, label["new"], ha="right")
    return fig


STEPS = {
    "en": {
        "asker": "1  query of work",
        "asked": "2  key and value of we",
        "rest": "3  scores, weights and average",
        "vector": "x of {}",
        "query": "query",
        "key": "key",
        "score": "score",
        "weight": "weight",
        "value": "value",
        "output": "output of work",
    },
    "zh": {
        "asker": "1  work 的查询",
        "asked": "2  we 的键和值",
        "rest": "3  分数、权重和加权平均",
        "vector": "{} 的 x",
        "query": "查询",
        "key": "键",
        "score": "分数",
        "weight": "权重",
        "value": "值",
        "output": "work 的输出",
    },
}


def draw_steps(label, shown, places, weight_places, bias=""):
    """All steps for the query of work; places: of the vectors."""
    words, x, scores = shown["words"], shown["x"], shown["scores"]
    size = x.size(1)  # rows of a matrix
    block = 20 * size + 34
    fig, ax = narrow_canvas(3 * block + 42 + 24 * (len(words) + 5))
    work, we = words.index("work"), words.index("we")

    def write_vector(x, y, vector, color, places=places, **options):
        write(ax, x, y, f"({', '.join(texts(vector, places))})", color, **options)

    def draw_row(x, y, width, vector, color, tint=0.0, places=places):
        for i, text in enumerate(texts(vector, places)):
            face = to_rgba(color, tint)
            frame(ax, x + width * i, y, width, 20, MUTED, 0.6, facecolor=face)
            write(ax, x + width * (i + 0.5), y + 10, text, color)

    def draw_product(y, word, kind, vector, result, color, bias=""):
        """The vector of a word times a matrix: each column gives a number of the result."""
        middle, matrix = y + 10 * (size - 1), shown[f"w_{kind}"]
        write(ax, 180 - 22 * size, middle - 10, label["vector"].format(word))
        draw_row(180 - 44 * size, middle, 44, vector, INK)
        write(ax, 188, middle + 9, "·", size=18)
        write(ax, 228, y - 10, f"w_{kind}", color)
        for i, row in enumerate(matrix):
            draw_row(196, y + 20 * i, 32, row, color, 0.14, places=0)
        write(ax, 279, middle + 10, f"{bias} =")
        write(ax, 347, middle - 10, label[kind], color)
        draw_row(298, middle, 49, result, color, 0.14)
        return middle

    write(ax, 4, 14, label["asker"], ha="left", weight="bold")
    middle = draw_product(46, "work", "query", x[work], shown["query"], QUERY, bias)
    frame(ax, 180 - 44 * size, middle, 44 * size, 20, INK, 1.6)
    frame(ax, 196, 46, 32, 20 * size, INK, 1.6)
    frame(ax, 298, middle, 49, 20, INK, 1.6)
    y = block + 36
    write(ax, 4, y, label["asked"], ha="left", weight="bold")
    draw_product(y + 32, "we", "key", x[we], shown["keys"][we], KEY)
    draw_product(y + block + 32, "we", "value", x[we], shown["values"][we], VALUE)
    y += 2 * block + 24
    write(ax, 4, y, label["rest"], ha="left", weight="bold")
    write(ax, 4, y + 24, label["query"], ha="left")
    write_vector(92, y + 24, shown["query"], QUERY)
    heads = (92, "key", KEY), (182, "score", INK), (288, "weight", INK), (356, "value", VALUE)
    for center, name, color in heads:
        write(ax, center, y + 50, label[name], color)
    write(ax, 240, y + 50, "÷ √2")
    scaled = texts(scores / 2**0.5, max(places, weight_places))
    weights = texts(shown["weights"], weight_places)
    for i, word in enumerate(words):
        row = y + 74 + 24 * i
        write(ax, 4, row, word, ha="left")
        write_vector(92, row, shown["keys"][i], KEY)
        write(ax, 200, row, texts(scores, places)[i], ha="right")
        write(ax, 260, row, scaled[i], ha="right")
        weight = shown["weights"][i].item()
        frame(ax, 268, row - 10, 40 * weight, 20, WEIGHT, 0, facecolor=to_rgba(WEIGHT, 0.55))
        write(ax, 288, row, weights[i])
        write_vector(396, row, shown["values"][i], VALUE, ha="right")
    y += 62 + 24 * len(words)
    line(ax, (312, y), (396, y), width=1)
    write(ax, 304, y + 17, label["output"], ha="right")
    write_vector(396, y + 17, shown["output"], VALUE, places=2, ha="right")
    return fig


@figure(**STEPS)
def one_query(label):
    """The query of work in the invented example."""
    shown, work = run_example("examples/attention/self_attention.py"), 1
    query, keys, values = (shown["x"] @ shown[f"w_{name}"] for name in ("query", "key", "value"))
    steps = {"words": ["we", "work", "?"], "query": query[work], "keys": keys, "values": values}
    steps["scores"] = keys @ query[work]
    steps |= {name: shown[name][work] for name in ("weights", "output")}
    return draw_steps(label, shown | steps, places=0, weight_places=3)


@figure(**STEPS)
def pencil_query(label):
    """The query of work in the pencil model, with the numbers of the chapter's examples."""
    shown = run_example("examples/attention/one_query.py")
    shown = shown | {"query": shown["q_work"]}
    return draw_steps(label, shown, places=2, weight_places=2, bias="− 2")


@figure(
    en={
        "softmax": "softmax of each row",
        "weights": "weights",
        "output": "output",
        "bias": "bias −2",
    },
    zh={
        "softmax": "对每一行做 softmax",
        "weights": "权重",
        "output": "输出",
        "bias": "偏置 −2",
    },
)
def all_queries(label):
    """Three matrix products, with what the row of work is computed from."""
    shown = run_example("examples/attention/all_queries.py")
    fig, ax = narrow_canvas(492)
    height, asker = 20, ENGLISH.index("work")

    def draw_matrix(x, y, matrix, width, color, name, places=None, raised="", shown_column=None):
        """Cells at (x, y) with a name above and the shape below; places: of the numbers.

        W and V show all numbers, the others the row of work. A shown column is framed.
        """
        rows, columns = matrix.shape
        shown_rows = range(rows) if name in "WV" else [asker]
        widths = [width] * columns
        if shown_column is not None:
            widths[shown_column] = 44
        lefts = [x + sum(widths[:j]) for j in range(columns)]
        for i in range(rows):
            for j in range(columns):
                tint = to_rgba(color, 0.55 * matrix[i, j].item() if color == WEIGHT else 0.14)
                frame(ax, lefts[j], y + height * i, widths[j], height, MUTED, 0.6, facecolor=tint)
                if j == shown_column or (i in shown_rows and places is not None):
                    decimals = 2 if places is None else places
                    text = f"{matrix[i, j].item():.{decimals}f}".replace("-", "−")
                    write(ax, lefts[j] + widths[j] / 2, y + height * (i + 0.5), text, size=12.3)
        center = x + sum(widths) / 2
        write(ax, center, y - 12, name, INK if color == WEIGHT else color, weight="bold")
        if raised:
            write(ax, center + 11, y - 17, raised, color, size=12.3)
        write(ax, center, y + height * rows + 11, f"{rows} × {columns}", MUTED, size=12.3)
        if rows == 5 and name != "V":
            frame(ax, x, y + height * asker, sum(widths), height, INK, 1.8)
        if shown_column is not None:
            frame(ax, lefts[shown_column], y, 44, height * rows, INK, 1.8)

    def name_rows(y):
        for i, word in enumerate(ENGLISH):
            write(ax, 38, y + height * (i + 0.5), word, ha="right", size=12.3)

    top = 28
    name_rows(top)
    draw_matrix(44, top, shown["x"], 38, INK, "X", 2)
    write(ax, 204, top + 50, "·")
    draw_matrix(212, top, shown["w_query"], 20, QUERY, "W", 0, raised="Q")
    write(ax, 276, top + 50, "=")
    write(ax, 276, top + 32, label["bias"], QUERY, size=12.3)
    draw_matrix(300, top, shown["queries"], 48, QUERY, "Q", 2)
    top += 158
    name_rows(top)
    draw_matrix(44, top, shown["queries"], 18, QUERY, "Q")
    write(ax, 88, top + 50, "·")
    we = ENGLISH.index("we")
    draw_matrix(96, top, shown["keys"].T, 16, KEY, "K", raised="T", shown_column=we)
    write(ax, 216, top + 50, "=")
    draw_matrix(228, top, shown["scores"], 33.6, INK, "Q Kᵀ", 0)
    arrow(ax, (312, top + 124), (312, top + 134), (112, top + 134), (112, top + 146))
    write(ax, 212, top + 146, label["softmax"], size=12.3)
    top += 184
    name_rows(top)
    draw_matrix(44, top, shown["weights"], 28, WEIGHT, label["weights"], 0)
    write(ax, 192, top + 50, "·")
    draw_matrix(200, top, shown["values"], 38, VALUE, "V", 2)
    write(ax, 286, top + 50, "=")
    draw_matrix(296, top, shown["output"], 48, VALUE, label["output"], 2)
    return fig


@figure(
    en={
        "queries": "queries",
        "keys": "keys",
        "values": "values",
        "scores": "scores",
        "scaled": "scaled",
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
        "exponentials": "取指数后",
        "weights": "权重",
        "sum": "÷ 行的和",
        "output": "输出",
        "average": "权重 · V",
    },
)
def by_hand(label):
    """The initial state of the page's widget, with the same layout."""
    shown, words = run_example("examples/attention/self_attention.py"), ["we", "work", "?"]
    query, key, value = (shown["x"] @ shown[f"w_{name}"] for name in ("query", "key", "value"))
    products = query @ key.T
    quotients = products / 2**0.5
    steps = products, quotients, quotients.exp(), shown["weights"], shown["output"]
    scores, scaled, exponentials, weights, output = (step.tolist() for step in steps)
    fig, ax = blank_canvas(470)
    panels = [
        (label["queries"], "Q", query.tolist(), QUERY),
        (label["keys"], "K", key.tolist(), KEY),
        (label["values"], "V", value.tolist(), VALUE),
        (label["scores"], "Q Kᵀ", scores, QUERY),
        (label["scaled"], "÷ √2", scaled, QUERY),
        (label["exponentials"], "eˣ", exponentials, QUERY),
        (label["weights"], label["sum"], weights, QUERY),
        (label["output"], label["average"], output, QUERY),
    ]

    def format_number(x) -> str:
        return (f"{x:.0f}" if x == round(x) else f"{x:.2f}").replace("-", "−")

    def draw_matrix(x, y, title, formula, rows, side):
        write(ax, x, y, title, ha="left", weight="bold")
        write(ax, x + 160, y, formula, MUTED, ha="right")
        heads = words if len(rows[0]) == 3 else ["1", "2"]
        for j, head in enumerate(heads):
            write(ax, x + 56 + 42 * j, y + 26, head, KEY if len(heads) == 3 else MUTED)
        for i, row in enumerate(rows):
            write(ax, x, y + 52 + 28 * i, words[i], side, ha="left")
            for j, number in enumerate(row):
                corner = x + 36 + 42 * j, y + 39 + 28 * i
                if rows is weights:
                    face = to_rgba(WEIGHT, 0.55 * number)
                    frame(ax, *corner, 40, 26, WEIGHT, 0, facecolor=face)
                frame(ax, *corner, 40, 26, MUTED, 0.5)
                write(ax, corner[0] + 20, corner[1] + 13, format_number(number))

    for index, (title, formula, rows, side) in enumerate(panels):
        draw_matrix(6 + 174 * (index % 3), 16 + 158 * (index // 3), title, formula, rows, side)
    return fig


@figure(
    en={
        "divided": "divided by 8",
        "undivided": "not divided",
        "weight": "weight",
        "keys": "keys, largest weight first",
    },
    zh={"divided": "除以 8", "undivided": "不缩放", "weight": "权重", "keys": "键，权重从大到小"},
)
def saturation(label):
    torch.manual_seed(0)
    scores = torch.randn(2000, 64, dtype=torch.float64).sort(descending=True).values
    fig, axes = canvas(height=190, columns=2, sharey=True)
    for ax, std, name in zip(axes, (1, 8), ("divided", "undivided"), strict=True):
        weights = (std * scores).softmax(dim=-1).mean(dim=0)
        ax.set_title(label[name])
        ax.stairs(weights, np.arange(65) + 0.5, fill=True, color=WEIGHT)
        ax.text(3, weights[0].item(), f"{weights[0].item():.1f}", va="bottom", size=13)
        ax.set_ylim(0, 1)
        ax.set_xticks([1, 32, 64])
        ax.set_xlabel(label["keys"])
        ax.tick_params(labelsize=13)
    axes[0].set_ylabel(label["weight"])
    return fig
