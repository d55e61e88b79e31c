"""Figures of the chapter on masks."""

import torch

from figures.diagram import (
    ENGLISH,
    PAD,
    TARGET,
    blank_canvas,
    fill_cells,
    grid,
    label_columns,
    label_rows,
    write,
)
from figures.style import KEY, QUERY, SECOND, figure
from transformer import causal_mask, padding_mask

SHORT_SOURCE = ["we", "work", PAD, PAD, PAD]
SHORT_TARGET = ["<bos>", *"我们工作？", PAD, PAD, PAD]


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
                write(ax, x + (j + 0.5) * size, y + (i + 0.5) * size, signs[not seen], size=12)


@figure(
    en={"query": "query", "key": "key", "first": "sentence 1", "second": "sentence 2"},
    zh={"query": "查询", "key": "键", "first": "第 1 句", "second": "第 2 句"},
)
def padding(label):
    size, top = 32, 92
    fig, ax = blank_canvas(288)
    for x, names, title in ((70, ENGLISH, "first"), (340, SHORT_SOURCE, "second")):
        mask = real_tokens(names).expand(5, 5)
        draw_mask(ax, x, top, mask, size)
        label_rows(ax, x, top, names, size)
        label_columns(ax, x, top, names, size)
        write(ax, x + 2.5 * size, 275, label[title])
        write(ax, x + 2.5 * size, 34, f"{label['key']} →", KEY)
        write(ax, x - 6, top - 6, f"{label['query']} ↓", QUERY, ha="right", va="bottom")
    return fig


@figure(
    en={"causal": "causal", "both": "causal & padding"},
    zh={"causal": "因果", "both": "因果 & 填充"},
)
def causal(label):
    size, top, n = 22, 58, len(TARGET)
    fig, ax = blank_canvas(292)
    causal_rows = causal_mask(n)[0, 0]
    for x, names, mask, title in (
        (50, TARGET, causal_rows, "causal"),
        (314, SHORT_TARGET, causal_rows & real_tokens(SHORT_TARGET), "both"),
    ):
        draw_mask(ax, x, top, mask, size)
        label_rows(ax, x, top, names, size)
        label_columns(ax, x, top, names, size)
        write(ax, x + n / 2 * size, top + n * size + 20, label[title])
    return fig
