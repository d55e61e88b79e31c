"""Figures of the chapter on embeddings."""

import numpy as np
import torch
from matplotlib.patches import Rectangle
from torch import nn

from drawing import FIRST, INK, MUTED, SECOND, canvas, figure, signed_image
from transformer import TokenEmbedding, sinusoidal_positional_encoding

WORDS = ["why", "do", "we", "work", "?"]
IDS = [4, 5, 6, 7, 8]


def small_table(vocab_size: int, d_model: int) -> np.ndarray:
    torch.manual_seed(0)
    embedding = TokenEmbedding(vocab_size, d_model, padding_idx=0)
    return embedding.embedding.weight.detach().numpy() * d_model**0.5


def box(ax, x, y, width, height, colour, line=1.0, fill="none") -> None:
    corner = (x, y)
    patch = Rectangle(corner, width, height, edgecolor=colour, facecolor=fill, linewidth=line)
    ax.add_patch(patch)


def blank(fig_ax, height: float):
    """Axes without marks, in units of the figure, y downwards."""
    fig, ax = fig_ax
    ax.set_axis_off()
    ax.set_xlim(0, 520)
    ax.set_ylim(height, 0)
    return fig, ax


def cells(ax, x, y, values, size) -> None:
    """A matrix as coloured cells of one size, its corner at x, y."""
    rows, columns = values.shape
    extent = (x, x + columns * size, y + rows * size, y)
    signed_image(ax, values, largest=2.5, extent=extent)
    for row in range(rows + 1):
        ax.plot([x, x + columns * size], [y + row * size] * 2, color=MUTED, linewidth=0.5)
    for column in range(columns + 1):
        ax.plot([x + column * size] * 2, [y, y + rows * size], color=MUTED, linewidth=0.5)


@figure(
    en={"text": "text", "tokens": "tokens", "ids": "ids", "vectors": "vectors"},
    zh={"text": "文字", "tokens": "词元", "ids": "编号", "vectors": "向量"},
)
def text_to_vectors(label):
    fig, ax = blank(canvas(height=290), 290)
    for y, name in ((20, "text"), (70, "tokens"), (120, "ids"), (215, "vectors")):
        ax.text(4, y, label[name], va="center")
    ax.text(295, 20, "why do we work ?", ha="center", va="center")
    table = small_table(9, 6)
    for i, (word, token) in enumerate(zip(WORDS, IDS, strict=True)):
        x = 125 + 85 * i
        box(ax, x - 32, 57, 64, 26, FIRST)
        ax.text(x, 70, word, ha="center", va="center")
        ax.text(x, 120, str(token), ha="center", va="center")
        for top, bottom in ((87, 107), (131, 147)):
            arrow = {"arrowstyle": "->", "color": MUTED}
            ax.annotate("", (x, bottom), (x, top), arrowprops=arrow)
        cells(ax, x - 10, 152, table[token][:, None], 20)
    for i in range(5):
        ax.plot([295, 125 + 85 * i], [32, 54], color=MUTED, linewidth=0.8)
    return fig


@figure(
    en={"picks": "one-hot rows", "table": "table", "rows": "vectors"},
    zh={"picks": "独热行", "table": "嵌入表", "rows": "向量"},
)
def row_pick(label):
    size, chosen = 18, 2
    fig, ax = blank(canvas(height=215), 215)
    table = small_table(9, 6)
    left, middle, right = 46, 262, 404
    top = 36 + 2 * size  # the five rows stand in the middle of the nine
    ax.text(left + 4.5 * size, 14, label["picks"], ha="center", va="center")
    ax.text(middle + 3 * size, 14, label["table"], ha="center", va="center")
    ax.text(right + 3 * size, 14, label["rows"], ha="center", va="center")
    ax.text(226, top + 2.5 * size, "×", ha="center", va="center", size=18)
    ax.text(388, top + 2.5 * size, "=", ha="center", va="center", size=18)
    cells(ax, left, top, np.zeros((5, 9)), size)
    cells(ax, middle, 36, table, size)
    cells(ax, right, top, table[IDS], size)
    for i, (word, token) in enumerate(zip(WORDS, IDS, strict=True)):
        colour = FIRST if i == chosen else INK
        y = top + (i + 0.5) * size
        ax.text(left - 6, y, word, ha="right", va="center", color=colour)
        x = left + (token + 0.5) * size
        ax.text(x, y, "1", ha="center", va="center", color=colour)
    for token in range(9):
        x, y = left + (token + 0.5) * size, 36 + (token + 0.5) * size
        colour = FIRST if token == IDS[chosen] else INK
        ax.text(x, top - 9, str(token), ha="center", va="center", color=colour, size=11)
        ax.text(middle - 6, y, str(token), ha="right", va="center", color=colour, size=11)
    box(ax, left, top + chosen * size, 9 * size, size, FIRST, 2)
    box(ax, middle, 36 + IDS[chosen] * size, 6 * size, size, FIRST, 2)
    box(ax, right, top + chosen * size, 6 * size, size, FIRST, 2)
    return fig


@figure(
    en={
        "position": "position vectors",
        "tokens": "tokens, ",
        "x": "length of a vector, on a logarithmic scale",
    },
    zh={"position": "位置向量", "tokens": "词元，", "x": "向量的长度（对数坐标）"},
)
def norms(label):
    torch.manual_seed(0)
    d_model, size = 512, 5000
    default = nn.Embedding(size, d_model).weight.detach()
    ours = TokenEmbedding(size, d_model).embedding.weight.detach()
    position = sinusoidal_positional_encoding(size, d_model)
    rows = [
        (label["position"], position, SECOND),
        (f"{label['tokens']}N(0, 1/d)", ours, FIRST),
        (f"{label['tokens']}N(0, 1/d) × √d", ours * d_model**0.5, FIRST),
        (f"{label['tokens']}N(0, 1)", default, FIRST),
        (f"{label['tokens']}N(0, 1) × √d", default * d_model**0.5, FIRST),
    ]
    fig, ax = canvas(height=300)
    edges = np.logspace(-0.5, 3, 351)
    for i, (name, vectors, colour) in enumerate(rows):
        length = vectors.norm(dim=-1).numpy()
        counts, _ = np.histogram(length, edges)
        used = counts > 0
        height = 0.5 * counts[used] / counts.max()
        ax.axhline(-i, color=MUTED, linewidth=0.6)
        ax.bar(edges[:-1][used], height, np.diff(edges)[used], -i, align="edge", color=colour)
        right = length.mean() > 100
        ax.text(
            length.mean() * (0.86 if right else 1.16),
            0.24 - i,
            f"{length.mean():.1f}",
            ha="right" if right else "left",
            va="center",
        )
        ax.text(0.33, 0.74 - i, name, va="center")
    ax.axvline(16, color=SECOND, linewidth=1, linestyle=(0, (3, 3)), zorder=0)
    ax.set_xscale("log")
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(-4.1, 1)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    ax.minorticks_off()
    ax.set_xlabel(label["x"])
    return fig
