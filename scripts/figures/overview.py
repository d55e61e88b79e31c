"""Figures of the overview. Numbers and weights are those of the trained translator.

They are narrower than other figures, so that on a phone a unit is about 0.9 pixels.
"""

import math
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple, cast

import torch

import translator
from bookbuild.generated.cross_attention import TRANSLATOR_WEIGHTS
from figures.diagram import (
    ENGLISH,
    arrow,
    blank_canvas,
    box,
    fill_rectangles,
    frame,
    line,
    signed_cells,
    write,
)
from figures.style import FIRST, INK, KEY, MUTED, QUERY, SECOND, THIRD, VALUE, WEIGHT, WIDTH, figure
from transformer import EncoderLayer

SHOWN = 6  # how many numbers of a vector are drawn
LANES = [150 + 52 * i for i in range(5)]  # the middles of five columns, one for each word


def narrow_canvas(height):
    """As blank_canvas, but only WIDTH units wide."""
    return blank_canvas(height, WIDTH)


def word_row(ax, y, words=ENGLISH, xs=LANES, color=INK, **options) -> None:
    """A word at each x."""
    for x, word in zip(xs, words, strict=True):
        write(ax, x, y, word, color, **options)


@cache
def load():
    return translator.load_translator(TRANSLATOR_WEIGHTS)


class Head(NamedTuple):
    """One head of the encoder's self-attention, for the running example."""

    layer: int  # from 1
    head: int  # from 0
    query: torch.Tensor  # (word, number), as key and value
    key: torch.Tensor
    value: torch.Tensor
    scores: torch.Tensor  # (query, key)
    weights: torch.Tensor


@cache
def encoder_heads() -> list[Head]:
    """All heads of the encoder, from one run of the trained translator."""
    trained, inputs = load(), []
    encoder_layers = cast(Iterable[EncoderLayer], trained.model.encoder.layers)
    layers = [layer.self_attention for layer in encoder_layers]
    hooks = [
        layer.register_forward_pre_hook(lambda _, args: inputs.append(args[0])) for layer in layers
    ]
    heads = []
    with torch.no_grad():
        trained.model.encode(torch.tensor([trained.source.encode(ENGLISH)]))
        for hook in hooks:
            hook.remove()
        for i, (layer, x) in enumerate(zip(layers, inputs, strict=True), 1):
            query, key, value = (
                layer.split(each(x))[0] for each in (layer.query, layer.key, layer.value)
            )
            scores = query @ key.mT / math.sqrt(query.size(-1))
            parts = zip(query, key, value, scores, scores.softmax(dim=-1), strict=True)
            heads += [Head(i, j, *part) for j, part in enumerate(parts)]
    return heads


@cache
def embeddings_of_the_example() -> torch.Tensor:
    """The embeddings of the running example with their positions: (word, number)."""
    trained = load()
    with torch.no_grad():
        ids = torch.tensor([trained.source.encode(ENGLISH)])
        return trained.model.position(trained.model.src_embedding(ids))[0]


def first_layer_head(word: str, other: str) -> Head:
    """The head of the first layer in which a word gives another word the largest weight."""
    row, column = ENGLISH.index(word), ENGLISH.index(other)
    first = [head for head in encoder_heads() if head.layer == 1]
    return max(first, key=lambda head: head.weights[row, column].item())


@figure(
    en={"none": "no counterpart", "我们": "wǒmen", "为什么": "wèishénme", "工作": "gōngzuò"},
    zh={"none": "没有对应的字", "我们": "", "为什么": "", "工作": ""},
)
def task(label):
    fig, ax = narrow_canvas(168 if label["我们"] else 144)
    english = dict(zip(ENGLISH, (46, 128, 202, 278, 350), strict=True))
    chinese = {"我们": 66, "为什么": 168, "工作": 268, "？": 350}
    pairs = {"why": "为什么", "we": "我们", "work": "工作", "?": "？"}
    for word, x in english.items():
        if word in pairs:
            color = FIRST if word == "why" else MUTED
            line(ax, (x, 56), (chinese[pairs[word]], 108), color=color, width=2)
        box(ax, x - 32, 26, 64, 30, SECOND if word in pairs else MUTED, word, size=15)
    write(ax, english["do"], 14, label["none"], MUTED, size=12.5)
    for word, x in chinese.items():
        width = 26 + 17 * len(word)
        box(ax, x - width / 2, 108, width, 32, FIRST, word, size=17)
        write(ax, x, 155, label.get(word, ""), MUTED, size=12.5)
    return fig


def two_columns(ax, label, bottom, top) -> None:
    """What goes into the encoder and the decoder, and what comes out."""
    for x, words, color in ((100, " ".join(ENGLISH), SECOND), (300, "我们", FIRST)):
        write(ax, x, bottom + 34, words, size=14)
        arrow(ax, (x, bottom + 22), (x, bottom + 3), color=color)
    write(ax, 300, bottom + 54, label["written"], MUTED, size=12.5)
    arrow(ax, (300, top - 3), (300, top - 22), color=FIRST)
    write(ax, 300, top - 34, "为", FIRST, size=17)
    write(ax, 316, top - 34, label["next"], MUTED, ha="left", size=12.5)


@figure(
    en={
        "encoder": "encoder",
        "decoder": "decoder",
        "vectors": "vectors",
        "written": "written so far",
        "next": "next",
    },
    zh={
        "encoder": "编码器",
        "decoder": "解码器",
        "vectors": "向量",
        "written": "已经写出的",
        "next": "下一个字",
    },
)
def two_boxes(label):
    fig, ax = narrow_canvas(172)
    two_columns(ax, label, 108, 56)
    box(ax, 40, 56, 120, 50, SECOND, label["encoder"], size=15)
    box(ax, 240, 56, 120, 50, FIRST, label["decoder"], size=15)
    arrow(ax, (162, 81), (238, 81), color=THIRD, width=2)
    write(ax, 200, 68, label["vectors"], THIRD, size=12.5)
    return fig


@figure(
    en={
        "token": "1  token",
        "id": "2  id",
        "row": "3  row of the table",
        "position": "4  position",
        "sum": "5  sum",
        "shown": "{} of {} numbers",
    },
    zh={
        "token": "1  词元",
        "id": "2  编号",
        "row": "3  表中的一行",
        "position": "4  位置",
        "sum": "5  相加",
        "shown": "{} 个数中的 {} 个",
    },
)
def vectors(label):
    trained = load()
    ids = torch.tensor([trained.source.encode(ENGLISH)])
    with torch.no_grad():
        rows = trained.model.src_embedding(ids)[0]
        sums = trained.model.position(rows[None])[0]
    width = rows.size(-1)
    parts = {"row": rows, "position": sums - rows, "sum": sums}
    largest = max(part[:, :SHOWN].abs().max().item() for part in parts.values())
    fig, ax = narrow_canvas(394)
    for y, name in ((16, "token"), (56, "id"), (126, "row"), (230, "position"), (334, "sum")):
        write(ax, 4, y, label[name], ha="left")
    counts = (SHOWN, width) if "of" in label["shown"] else (width, SHOWN)
    write(ax, 20, 144, label["shown"].format(*counts), MUTED, ha="left", size=12.5)
    word_row(ax, 16, size=14)
    for i, x in enumerate(LANES):
        write(ax, x, 56, str(ids[0, i].item()))
        arrow(ax, (x, 26), (x, 44))
        arrow(ax, (x, 66), (x, 86))
        for top, (name, part) in zip((90, 194, 298), parts.items(), strict=True):
            signed_cells(ax, x - 6.5, top, part[i, :SHOWN, None].numpy(), 13, largest)
            if name != "row":
                write(ax, x, top - 13, "+" if name == "position" else "=", size=15)
        write(ax, x, 384, "⋮", MUTED)
    return fig


@figure(
    en={
        "query": "query of ?",
        "keys": "keys",
        "score": "1 score",
        "weight": "2 weight",
        "values": "values",
        "sum": "3 weighted sum: what ? takes from the sentence",
    },
    zh={
        "query": "问号的查询",
        "keys": "键",
        "score": "1 分数",
        "weight": "2 权重",
        "values": "值",
        "sum": "3 加权求和：问号从整句话里取来的信息",
    },
)
def attention(label):
    head = first_layer_head("?", "why")
    row, size = ENGLISH.index("?"), 11
    largest = max(part[:, :SHOWN].abs().max().item() for part in head[2:5])

    def strip(x, y, vector):
        signed_cells(ax, x, y - size / 2, vector[None, :SHOWN].numpy(), size, largest)

    fig, ax = narrow_canvas(316)
    write(ax, 54, 18, label["query"], QUERY, ha="left")
    strip(160, 18, head.query[row])
    arrow(ax, (193, 28), (193, 52), color=QUERY)
    for x, name, color in (
        (87, "keys", KEY),
        (168, "score", INK),
        (246, "weight", INK),
        (354, "values", VALUE),
    ):
        write(ax, x, 64, label[name], color)
    for i, word in enumerate(ENGLISH):
        y, weight = 92 + 32 * i, head.weights[row, i].item()
        write(ax, 24, y, word, size=14)
        strip(54, y, head.key[i])
        score = f"{head.scores[row, i].item():.1f}".replace("-", "−")
        write(ax, 184, y, score, ha="right")
        fill_rectangles(ax, [(212, y - 9, 56 * weight, 18)], WEIGHT)
        write(ax, 218 + 56 * weight, y, f"{weight:.0%}", ha="left", size=12.5)
        write(ax, 306, y, "×")
        strip(321, y, head.value[i])
    line(ax, (316, 240), (392, 240), width=1)
    strip(321, 262, head.weights[row] @ head.value)
    write(ax, 396, 292, label["sum"], ha="right")
    return fig


@figure(
    en={
        "attention": "1  attention",
        "mix": "words exchange",
        "mixed": "information",
        "network": "2  feed-forward",
        "alone": "each word alone",
        "norm": "add, normalize",
    },
    zh={
        "attention": "1  注意力",
        "mix": "词与词之间",
        "mixed": "交换信息",
        "network": "2  前馈网络",
        "alone": "每个词各算各的",
        "norm": "相加，归一化",
    },
)
def layer(label):
    """A layer, read from the bottom, as the other pictures of layers."""
    fig, ax = narrow_canvas(304)
    left, right = 128, 380
    word_row(ax, 290, size=14)
    for x in LANES:
        line(ax, (x, 278), (x, 24), zorder=0)
        arrow(ax, (x, 28), (x, 6))
    frame(ax, left - 8, 24, right - left + 22, 250, MUTED, 1, linestyle=(0, (4, 3)))
    box(ax, left, 184, right - left, 64, SECOND, tint=0.08)
    for start in LANES:
        for end in LANES:
            chosen = end == LANES[4]
            color, width = (FIRST, 1.6) if chosen else (MUTED, 0.5)
            line(ax, (start, 246), (end, 186), color=color, width=width, zorder=3 if chosen else 2)
    for top, start in ((148, 262), (40, 138)):
        for x in LANES:
            box(ax, x - 18, top, 36, 22, THIRD)
        side, end = right + 8, LANES[4] + 19
        arrow(ax, (LANES[4], start), (side, start), (side, top + 11), (end, top + 11))
        write(ax, 4, top + 11, label["norm"], THIRD, ha="left")
    for i, x in enumerate(LANES):
        box(ax, x - 18, 80, 36, 46, FIRST if i == 4 else SECOND)
    write(ax, 4, 200, label["attention"], ha="left", weight="bold")
    write(ax, 4, 220, label["mix"], MUTED, ha="left", size=12.5)
    write(ax, 4, 236, label["mixed"], MUTED, ha="left", size=12.5)
    write(ax, 4, 94, label["network"], ha="left", weight="bold")
    write(ax, 4, 113, label["alone"], MUTED, ha="left", size=12.5)
    write(ax, 4, 16, "× N", ha="left", size=15)
    return fig
