"""Figures of the chapter on embeddings."""

import numpy as np
import torch
from torch import nn

from figures.diagram import (
    ENGLISH,
    arrow,
    blank_canvas,
    box,
    frame,
    grid,
    line,
    signed_cells,
    write,
)
from figures.style import FIRST, INK, MUTED, SECOND, canvas, figure
from transformer import TokenEmbedding, sinusoidal_positional_encoding

IDS = [4, 5, 6, 7, 8]


def scaled_embedding_rows(vocab_size: int, d_model: int) -> np.ndarray:
    torch.manual_seed(0)
    embedding = TokenEmbedding(vocab_size, d_model, padding_idx=0)
    return embedding.embedding.weight.detach().numpy() * d_model**0.5


@figure(
    en={"text": "text", "tokens": "tokens", "ids": "ids", "vectors": "vectors"},
    zh={"text": "文字", "tokens": "词元", "ids": "编号", "vectors": "向量"},
)
def text_to_vectors(label):
    fig, ax = blank_canvas(290)
    for y, name in ((20, "text"), (70, "tokens"), (120, "ids"), (215, "vectors")):
        write(ax, 4, y, label[name], ha="left")
    write(ax, 295, 20, " ".join(ENGLISH))
    table = scaled_embedding_rows(9, 6)
    for i, (word, token) in enumerate(zip(ENGLISH, IDS, strict=True)):
        x = 125 + 85 * i
        line(ax, (295, 32), (x, 57), width=0.8)
        box(ax, x - 32, 57, 64, 26, FIRST, word)
        arrow(ax, (x, 83), (x, 107))
        write(ax, x, 120, str(token))
        arrow(ax, (x, 131), (x, 150))
        signed_cells(ax, x - 10, 152, table[token][:, None], 20, largest=2.5)
    return fig


@figure(
    en={"picks": "one-hot rows", "table": "table", "rows": "vectors"},
    zh={"picks": "独热行", "table": "嵌入表", "rows": "向量"},
)
def row_pick(label):
    size, chosen = 18, 2
    fig, ax = blank_canvas(215)
    table = scaled_embedding_rows(9, 6)
    left, middle, right = 46, 262, 404
    top = 36 + 2 * size  # the five rows are centered beside the nine
    write(ax, left + 4.5 * size, 14, label["picks"])
    write(ax, middle + 3 * size, 14, label["table"])
    write(ax, right + 3 * size, 14, label["rows"])
    write(ax, 226, top + 2.5 * size, "×", size=18)
    write(ax, 388, top + 2.5 * size, "=", size=18)
    grid(ax, left, top, 5, 9, size)
    signed_cells(ax, middle, 36, table, size, largest=2.5)
    signed_cells(ax, right, top, table[IDS], size, largest=2.5)
    for i, (word, token) in enumerate(zip(ENGLISH, IDS, strict=True)):
        color = FIRST if i == chosen else INK
        y = top + (i + 0.5) * size
        write(ax, left - 6, y, word, color, ha="right")
        x = left + (token + 0.5) * size
        write(ax, x, y, "1", color)
    for token in range(9):
        x, y = left + (token + 0.5) * size, 36 + (token + 0.5) * size
        color = FIRST if token == IDS[chosen] else INK
        write(ax, x, top - 9, str(token), color, size=11)
        write(ax, middle - 6, y, str(token), color, ha="right", size=11)
    frame(ax, left, top + chosen * size, 9 * size, size, FIRST, 2)
    frame(ax, middle, 36 + IDS[chosen] * size, 6 * size, size, FIRST, 2)
    frame(ax, right, top + chosen * size, 6 * size, size, FIRST, 2)
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
    for i, (name, vectors, color) in enumerate(rows):
        length = vectors.norm(dim=-1).numpy()
        counts, _ = np.histogram(length, edges)
        is_used = counts > 0
        height = 0.5 * counts[is_used] / counts.max()
        ax.axhline(-i, color=MUTED, linewidth=0.6)
        ax.bar(edges[:-1][is_used], height, np.diff(edges)[is_used], -i, align="edge", color=color)
        right = length.mean() > 100
        point = length.mean() * (0.86 if right else 1.16), 0.24 - i
        write(ax, *point, f"{length.mean():.1f}", ha="right" if right else "left")
        write(ax, 0.33, 0.74 - i, name, ha="left")
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
