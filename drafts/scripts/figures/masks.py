"""Figures of the chapter on masks."""

import torch
from matplotlib.patches import Rectangle

from drawing import FIRST, INK, MUTED, SECOND, canvas, figure
from transformer import causal_mask, padding_mask, scaled_dot_product_attention

PAD = "<pad>"
SOURCE = ["why", "do", "we", "work", "?"]
SHORT_SOURCE = ["we", "work", PAD, PAD, PAD]
TARGET = ["<bos>", *"我们为什么工作？"]
SHORT_TARGET = ["<bos>", *"我们工作？", PAD, PAD, PAD]


def blank(height: float):
    """Axes without marks, in units of the figure, y downwards."""
    fig, ax = canvas(height=height)
    ax.set_axis_off()
    ax.set_xlim(0, 520)
    ax.set_ylim(height, 0)
    return fig, ax


def real(tokens: list[str]) -> torch.Tensor:
    """The padding mask of one sentence, as a row (1, n)."""
    ids = torch.tensor([[int(token != PAD) for token in tokens]])
    return padding_mask(ids)[0, 0]


def grid(ax, x, y, mask, size, colour=SECOND, signs=None) -> None:
    """A mask as cells, its corner at x, y; True is filled; signs: (True's, False's)."""
    for i, row in enumerate(mask.tolist()):
        for j, seen in enumerate(row):
            corner = (x + j * size, y + i * size)
            face = colour if seen else "none"
            inside = Rectangle(corner, size, size, facecolor=face, alpha=0.55)
            ax.add_patch(inside)
            edge = Rectangle(corner, size, size, facecolor="none", edgecolor=MUTED, linewidth=0.7)
            ax.add_patch(edge)
            if signs:
                middle = (corner[0] + size / 2, corner[1] + size / 2)
                ax.text(*middle, signs[not seen], ha="center", va="center", size=12)


def tokens(ax, x, y, names, size, rows=True, columns=True) -> None:
    """The names on the left of a grid and on its top, where words are turned."""
    for i, name in enumerate(names):
        colour = FIRST if name == PAD else INK
        middle = (i + 0.5) * size
        if rows:
            ax.text(x - 6, y + middle, name, ha="right", va="center", color=colour, size=12)
        if columns:
            turned = 90 if len(name) > 1 else 0
            ax.text(
                x + middle,
                y - 6,
                name,
                ha="center",
                va="bottom",
                color=colour,
                size=12,
                rotation=turned,
            )


@figure(
    en={"query": "query", "key": "key", "first": "sentence 1", "second": "sentence 2"},
    zh={"query": "查询", "key": "键", "first": "第 1 句", "second": "第 2 句"},
)
def padding(label):
    size, top = 32, 92
    fig, ax = blank(288)
    for x, names, title in ((70, SOURCE, "first"), (340, SHORT_SOURCE, "second")):
        mask = real(names).expand(5, 5)
        grid(ax, x, top, mask, size)
        tokens(ax, x, top, names, size)
        middle = x + 2.5 * size
        ax.text(middle, 275, label[title], ha="center", va="center")
        ax.text(middle, 34, f"{label['key']} →", ha="center", va="center", color=MUTED)
        ax.text(x - 6, top - 6, f"{label['query']} ↓", ha="right", va="bottom", color=MUTED)
    return fig


@figure(
    en={"causal": "causal", "both": "causal & padding"},
    zh={"causal": "因果", "both": "因果 & 填充"},
)
def causal(label):
    size, top, n = 22, 58, len(TARGET)
    fig, ax = blank(292)
    order = causal_mask(n)[0, 0]
    for x, names, mask, title in (
        (50, TARGET, order, "causal"),
        (314, SHORT_TARGET, order & real(SHORT_TARGET), "both"),
    ):
        grid(ax, x, top, mask, size)
        tokens(ax, x, top, names, size)
        middle = (x + n / 2 * size, top + n * size + 20)
        ax.text(*middle, label[title], ha="center", va="center")
    return fig


@figure(
    en={
        "ours": "ours, SDPA",
        "torch": "torch.nn",
        "hugging": "Hugging Face",
        "added": "added",
        "padding": "padding",
        "causal": "causal",
        "inside": "made inside\nthe model",
    },
    zh={
        "ours": "本书、SDPA",
        "torch": "torch.nn",
        "hugging": "Hugging Face",
        "added": "相加式",
        "padding": "填充",
        "causal": "因果",
        "inside": "由模型\n内部生成",
    },
)
def conventions(label):
    size, strip, square = 23, 62, 112
    fig, ax = blank(218)
    names = ["we", "work", "?", PAD]
    row, order = real(names), causal_mask(4)[0, 0]
    ax.text(4, strip + size / 2, label["padding"], va="center")
    ax.text(4, square + 2 * size, label["causal"], va="center")
    for x, name, signs in (
        (76, "ours", ("T", "F")),
        (192, "torch", ("F", "T")),
        (308, "hugging", ("1", "0")),
        (424, "added", ("0", "−∞")),
    ):
        ax.text(x + 2 * size, 9, label[name], ha="center", va="center")
        grid(ax, x, strip, row, size, signs=signs)
        tokens(ax, x, strip, names, size, rows=False)
        if name == "hugging":
            ax.text(x + 2 * size, square + 2 * size, label["inside"], ha="center", va="center")
        else:
            grid(ax, x, square, order, size, signs=signs)
    return fig


@figure(
    en={"wrong": "wrong, (n, 1, n)", "right": "right, (1, 1, n, n)", "head": "head {}"},
    zh={"wrong": "错误，(n, 1, n)", "right": "正确，(1, 1, n, n)", "head": "头 {}"},
)
def accident(label):
    n, size = 8, 13
    fig, ax = blank(302)
    torch.manual_seed(0)
    query, key = torch.randn(2, 1, n, n, 4)
    square = causal_mask(n)[0, 0]
    for y, name, mask in ((34, "right", square[None, None]), (174, "wrong", square.unsqueeze(1))):
        ax.text(8, y - 18, label[name], va="center")
        _, weights = scaled_dot_product_attention(query, key, key, mask)
        for place, head in enumerate((0, 2, 4, 7)):
            x = 8 + place * 133
            seen = weights[0, head] > 0
            grid(ax, x, y, seen & square, size)
            grid(ax, x, y, seen & ~square, size, FIRST)
            if name == "wrong":
                middle = (x + n / 2 * size, 290)
                ax.text(*middle, label["head"].format(head + 1), ha="center", va="center")
    return fig
