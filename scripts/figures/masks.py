"""Figures of the chapter on masks."""

import torch

from figures.diagram import ENGLISH, PAD, arrow, blank_canvas, fill_cells, frame, grid, write
from figures.examples import run_example
from figures.style import FIRST, INK, KEY, QUERY, SECOND, WIDTH, figure
from transformer import causal_mask, padding_mask

TEXT = 16  # units, 11 pixels on a phone


def real_tokens(tokens: list[str]) -> torch.Tensor:
    """The padding mask of one sentence, as a row (1, n)."""
    ids = torch.tensor([[int(token != PAD) for token in tokens]])
    return padding_mask(ids)[0, 0]


def draw_mask(ax, x, y, mask, size, signs=None) -> None:
    """A mask as a grid at (x, y) with True filled; signs: the texts for True and False."""
    fill_cells(ax, x, y, mask, size, SECOND, 0.55)
    grid(ax, x, y, len(mask), len(mask[0]), size)
    if signs:
        for i, row in enumerate(mask.tolist()):
            for j, seen in enumerate(row):
                write(ax, x + (j + 0.5) * size, y + (i + 0.5) * size, signs[not seen], size=15)


@figure(
    en={"weights": "weights", "triangle": "triangle", "divided": "÷ sum of row"},
    zh={"weights": "权重", "triangle": "下三角", "divided": "÷ 行的和"},
)
def triangle(label):
    """The three tables of the simple way to apply the causal mask."""
    shown = run_example("examples/masks/multiply.py")
    seen = causal_mask(3)[0, 0]
    tables = {
        "weights": (shown["weights"], "{:.2f}"),
        "triangle": (seen.int(), "{:d}"),
        "divided": (shown["kept"] / shown["sums"], "{:.2f}"),
    }
    size, top = 35, 52
    fig, ax = blank_canvas(top + 3 * size + 8, WIDTH)
    for word, row in zip(shown["tokens"], range(3), strict=True):
        write(ax, 40, top + (row + 0.5) * size, word, QUERY, ha="right", size=12.5)
    for step, (name, (table, form)) in enumerate(tables.items()):
        x = 46 + step * (3 * size + 18)
        write(ax, x + 1.5 * size, 12, label[name], weight="bold")
        if name == "triangle":
            fill_cells(ax, x, top, seen, size, SECOND, 0.55)
        grid(ax, x, top, 3, 3, size)
        for j, word in enumerate(shown["tokens"]):
            write(ax, x + (j + 0.5) * size, 38, word, KEY, size=12.5)
            for i in range(3):
                number = form.format(table[i, j].item())
                hidden = name == "divided" and not seen[i, j]
                color = FIRST if hidden else INK
                text = "0" if hidden else number
                write(ax, x + (j + 0.5) * size, top + (i + 0.5) * size, text, color, size=12.5)
        if step:
            write(ax, x - 9, top + 1.5 * size, ("⊙", "→")[step - 1])
    return fig


@figure(
    en={"mask": "mask", "copied": "copied", "head": "head {}"},
    zh={"mask": "掩码", "copied": "广播以后", "head": "{} 号头"},
)
def broadcast(label):
    size, row_size, row_x, top, between = 21, 21, 30, 84, 150
    ids = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 0, 0, 0]])
    mask = padding_mask(ids)
    heads = (236, 388)
    fig, ax = blank_canvas(top + between + 5 * size + 18)
    write(ax, row_x + 2.5 * size, 20, label["mask"], size=TEXT)
    write(ax, row_x + 2.5 * size, 42, str(tuple(mask.shape)), size=TEXT)
    write(ax, (heads[0] + heads[1]) / 2 + 2.5 * size, 20, label["copied"], size=TEXT)
    write(ax, (heads[0] + heads[1]) / 2 + 2.5 * size, 42, "(2, 2, 5, 5)", size=TEXT)
    for head, x in enumerate(heads):
        write(ax, x + 2.5 * size, 68, label["head"].format(head), size=TEXT)
    for sentence, row in enumerate(mask[:, 0, 0]):
        y = top + sentence * between
        middle = y + 2.5 * size
        words = (ENGLISH, ["we", "work", PAD, PAD, PAD])[sentence]
        for j, word in enumerate(words):
            options = {"ha": "left", "rotation": 90, "rotation_mode": "anchor", "size": 15}
            color = FIRST if word == PAD else INK
            write(ax, row_x + (j + 0.5) * size, middle - row_size / 2 - 6, word, color, **options)
        draw_mask(ax, row_x, middle - row_size / 2, row[None], row_size)
        for x in heads:
            draw_mask(ax, x, y, row.expand(5, 5), size)
        if sentence:  # follow the row of one query
            frame(ax, row_x, middle - row_size / 2, 5 * size, row_size, FIRST, 2.5)
            frame(ax, heads[1], y + size, 5 * size, size, FIRST, 2.5)
        arrow(ax, (row_x + 5 * size + 8, middle), (heads[0] - 10, middle))
    return fig


@figure(
    en={"causal": "causal", "padding": "padding", "both": "both", "key": "key", "query": "query"},
    zh={"causal": "因果", "padding": "填充", "both": "合用", "key": "键", "query": "查询"},
)
def both(label):
    size, top, words = 26, 84, ["<bos>", "我们", "工作", PAD, PAD]
    causal_rows, padding_rows = causal_mask(5)[0, 0], real_tokens(words).expand(5, 5)
    masks = {"causal": causal_rows, "padding": padding_rows, "both": causal_rows & padding_rows}
    fig, ax = blank_canvas(top + 5 * size + 36)
    write(ax, 2, top - 44, f"{label['key']} →", KEY, ha="left", size=TEXT)
    write(ax, 2, top - 20, f"{label['query']} ↓", QUERY, ha="left", size=TEXT)
    for i, (name, mask) in enumerate(masks.items()):
        x = 62 + i * 156
        draw_mask(ax, x, top, mask, size)
        for j, word in enumerate(words):
            color = FIRST if word == PAD else INK
            column = x + (j + 0.5) * size
            options = {"ha": "left", "rotation": 90, "rotation_mode": "anchor", "size": TEXT}
            write(ax, column, top - 6, word, color, **options)
            if not i:
                write(ax, x - 6, top + (j + 0.5) * size, word, color, ha="right", size=TEXT)
        write(ax, x + 2.5 * size, top + 5 * size + 20, label[name], size=TEXT)
        if i < 2:
            write(ax, x + 5 * size + 13, top + 2.5 * size, "&" if not i else "=", size=TEXT)
    return fig
