"""Figures of the page on mask conventions."""

import torch

from figures.diagram import PAD, blank_canvas, fill_cells, write
from figures.masks import TEXT, draw_mask, real_tokens
from figures.style import FIRST, INK, figure
from transformer import causal_mask, scaled_dot_product_attention


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
    size, strip, square = 24, 76, 128
    fig, ax = blank_canvas(236)
    names = ["we", "work", "?", PAD]
    row, causal_rows = real_tokens(names), causal_mask(4)[0, 0]
    write(ax, 4, strip + size / 2, label["padding"], ha="left", size=TEXT)
    write(ax, 4, square + 2 * size, label["causal"], ha="left", size=TEXT)
    for x, name, signs in (
        (74, "ours", ("T", "F")),
        (188, "torch", ("F", "T")),
        (302, "hugging", ("1", "0")),
        (416, "added", ("0", "−∞")),
    ):
        write(ax, x + 2 * size, 12, label[name], size=TEXT)
        draw_mask(ax, x, strip, row, size, signs)
        for i, word in enumerate(names):
            color, place = FIRST if word == PAD else INK, x + (i + 0.5) * size
            if len(word) > 1:
                options = {"ha": "left", "rotation": 90, "rotation_mode": "anchor"}
            else:
                options = {"va": "bottom"}
            write(ax, place, strip - 6, word, color, size=TEXT, **options)
        if name == "hugging":
            write(ax, x + 2 * size, square + 2 * size, label["inside"], size=TEXT)
        else:
            draw_mask(ax, x, square, causal_rows, size, signs)
    return fig


@figure(
    en={"wrong": "wrong, (n, 1, n)", "right": "right, (1, 1, n, n)", "head": "head {}"},
    zh={"wrong": "错误，(n, 1, n)", "right": "正确，(1, 1, n, n)", "head": "{} 号头"},
)
def accident(label):
    n, size = 8, 13
    fig, ax = blank_canvas(302)
    torch.manual_seed(0)
    query, key = torch.randn(2, 1, n, n, 4)
    square = causal_mask(n)[0, 0]
    for y, name, mask in ((34, "right", square[None, None]), (174, "wrong", square.unsqueeze(1))):
        write(ax, 8, y - 18, label[name], ha="left", size=TEXT)
        _, weights = scaled_dot_product_attention(query, key, key, mask)
        for column, head in enumerate((0, 2, 4, 7)):
            x = 8 + column * 133
            seen = weights[0, head] > 0
            fill_cells(ax, x, y, seen & ~square, size, FIRST, 0.55)
            draw_mask(ax, x, y, seen & square, size)
            if name == "wrong":
                write(ax, x + n / 2 * size, 290, label["head"].format(head), size=TEXT)
    return fig
