"""Figures of the chapter on the encoder and the decoder."""

import numpy as np
import torch

from figures.diagram import (
    CHINESE,
    ENGLISH,
    TARGET,
    arrow,
    blank_canvas,
    box,
    fill_cells,
    label_columns,
    label_rows,
    labeled_grid,
    line,
    signed_cells,
    write,
)
from figures.style import FIRST, INK, KEY, MUTED, QUERY, SECOND, THIRD, VALUE, figure
from transformer import Decoder, PositionalEncoding, TokenEmbedding, TransformerConfig, causal_mask


@figure(
    en={"whole": "Transformer", "encoder": "encoder", "decoder": "decoder", "memory": "memory"},
    zh={"whole": "Transformer", "encoder": "编码器", "decoder": "解码器", "memory": "memory"},
)
def zoom(label):
    fig, ax = blank_canvas(310)
    english, chinese = " ".join(ENGLISH), "".join(CHINESE)
    for y in (34, 124, 240):
        write(ax, 4, y, english, ha="left")
        write(ax, 516, y, chinese, ha="right")
        arrow(ax, (122, y), (136, y))
        arrow(ax, (378, y), (394, y))
    box(ax, 138, 12, 240, 44, THIRD, label["whole"])
    box(ax, 138, 102, 80, 44, SECOND, label["encoder"])
    box(ax, 298, 102, 80, 44, FIRST, label["decoder"])
    arrow(ax, (218, 124), (296, 124), color=THIRD, width=2)
    write(ax, 257, 111, label["memory"], THIRD, size=12)
    for i in range(6):
        box(ax, 138 + 14 * i, 218, 10, 44, SECOND)
        box(ax, 298 + 14 * i, 218, 10, 44, FIRST)
        arrow(ax, (303 + 14 * i, 196), (303 + 14 * i, 216), color=THIRD)
    line(ax, (219, 240), (232, 240), (232, 196), (373, 196), color=THIRD, width=2)
    write(ax, 304, 184, label["memory"], THIRD, size=12)
    write(ax, 178, 278, f"{label['encoder']} × 6", SECOND, size=12)
    write(ax, 338, 278, f"{label['decoder']} × 6", FIRST, size=12)
    for x in (138, 378):
        line(ax, (x, 60), (x, 98), width=0.8, linestyle=(0, (2, 3)))
    for x in (138, 218, 298, 378):
        line(ax, (x, 150), (x, 214 if x < 298 else 180), width=0.8, linestyle=(0, (2, 3)))
    return fig


def draw_residual(ax, lane, x, top, bottom, edge) -> None:
    """A residual connection from a lane at y = top around to the side x of a band."""
    arrow(ax, (lane, top), (edge, top), (edge, bottom), (x, bottom))


@figure(
    en={
        "attention": "1  self-attention",
        "norm1": "2  sum, LayerNorm",
        "network": "3  feed-forward",
        "norm2": "4  sum, LayerNorm",
        "in": "in: (5, 512)",
        "out": "out: (5, 512)",
    },
    zh={
        "attention": "1  自注意力",
        "norm1": "2  相加，层归一化",
        "network": "3  前馈网络",
        "norm2": "4  相加，层归一化",
        "in": "输入：(5, 512)",
        "out": "输出：(5, 512)",
    },
)
def encoder_layer(label):
    fig, ax = blank_canvas(330)
    xs, left, right = [170 + 68 * i for i in range(5)], 146, 466
    for x, word in zip(xs, ENGLISH, strict=True):
        write(ax, x, 12, word)
    write(ax, 4, 12, label["in"], ha="left")
    write(ax, 4, 314, label["out"], ha="left")
    for x in xs:
        line(ax, (x, 24), (x, 302), zorder=0)
    box(ax, left, 50, right - left, 66, SECOND, tint=0.08)
    for start in xs:
        for end in xs:
            chosen = end == xs[3]
            color, width = (FIRST, 1.6) if chosen else (MUTED, 0.5)
            line(ax, (start, 52), (end, 114), color=color, width=width, zorder=3 if chosen else 2)
    for y in (134, 262):
        box(ax, left, y, right - left, 22, THIRD)
    for i, x in enumerate(xs):
        box(ax, x - 24, 186, 48, 46, FIRST if i == 3 else SECOND)
        arrow(ax, (x, 284), (x, 302))
    for y, name in ((83, "attention"), (145, "norm1"), (209, "network"), (273, "norm2")):
        write(ax, 4, y, label[name], ha="left")
    draw_residual(ax, xs[-1], right, 38, 145, 494)
    draw_residual(ax, xs[-1], right, 171, 273, 494)
    return fig


@figure(
    en={
        "attention": "1  self-attention,",
        "past": "    backwards only",
        "cross": "2  cross-attention",
        "network": "3  feed-forward",
        "norm": "    sum, LayerNorm",
        "memory": "memory",
        "query": "queries",
        "keys": "keys",
        "values": "values",
    },
    zh={
        "attention": "1  自注意力，",
        "past": "    只看左边",
        "cross": "2  交叉注意力",
        "network": "3  前馈网络",
        "norm": "    相加，层归一化",
        "memory": "memory",
        "query": "查询",
        "keys": "键",
        "values": "值",
    },
)
def decoder_layer(label):
    fig, ax = blank_canvas(410)
    xs, left, right = [174 + 52 * i for i in range(4)], 152, 352
    for x, word in zip(xs, TARGET, strict=False):
        write(ax, x, 12, word)
    for x in xs:
        line(ax, (x, 24), (x, 386), zorder=0)
    for y, height, color in ((44, 66, FIRST), (174, 66, THIRD)):
        box(ax, left, y, right - left, height, color, tint=0.08)
    for i, end in enumerate(xs):
        for start in xs[: i + 1]:
            chosen = i == 2
            color, width = (FIRST, 1.6) if chosen else (MUTED, 0.6)
            line(ax, (start, 46), (end, 108), color=color, width=width, zorder=3 if chosen else 2)
    for y in (124, 254, 352):
        box(ax, left, y, right - left, 22, THIRD)
    for x in xs:
        arrow(ax, (x, 160), (x, 172), color=QUERY)
        box(ax, x - 20, 290, 40, 40, FIRST)
        arrow(ax, (x, 374), (x, 390))
    write(ax, (left + right) / 2, 190, label["query"], QUERY)
    write(ax, (left + right) / 2 - 30, 216, label["keys"], KEY)
    write(ax, (left + right) / 2 + 30, 216, label["values"], VALUE)
    for i, word in enumerate(ENGLISH):
        y = 148 + 26 * i
        box(ax, 432, y, 18, 18, THIRD, tint=0.4)
        write(ax, 458, y + 9, word, ha="left")
    write(ax, 432, 132, label["memory"], THIRD, ha="left")
    arrow(ax, (428, 202), (354, 202), color=KEY, width=1.8)
    arrow(ax, (428, 214), (354, 214), color=VALUE, width=1.8)
    names = ((68, "attention"), (86, "past"), (135, "norm"), (207, "cross"))
    for y, name in (*names, (265, "norm"), (310, "network"), (363, "norm")):
        write(ax, 2, y, label[name], ha="left")
    for top, bottom in ((34, 135), (160, 265), (282, 363)):
        draw_residual(ax, xs[0], left, top, bottom, 134)
    return fig


@figure(
    en={
        "ours": "as it is",
        "pairs": "a common misreading",
        "encoder": "encoder",
        "decoder": "decoder",
    },
    zh={"ours": "实际如此", "pairs": "常见的误读", "encoder": "编码器", "decoder": "解码器"},
)
def readers(label):
    fig, ax = blank_canvas(300)
    for shift, name in ((0, "ours"), (270, "pairs")):
        write(ax, shift + 125, 14, label[name], INK)
        write(ax, shift + 50, 286, label["encoder"], SECOND, size=12)
        write(ax, shift + 200, 286, label["decoder"], FIRST, size=12)
        for i in range(6):
            y = 232 - 40 * i
            box(ax, shift + 10, y, 80, 26, SECOND, str(i + 1))
            box(ax, shift + 160, y, 80, 26, FIRST, str(i + 1))
            for x in (50, 200) if i < 5 else ():
                arrow(ax, (shift + x, y), (shift + x, y - 13))
            start = 91 if name == "pairs" else 124
            arrow(ax, (shift + start, y + 13), (shift + 158, y + 13), color=THIRD)
    line(ax, (91, 45), (125, 45), color=THIRD, width=2)
    line(ax, (125, 44), (125, 245), color=THIRD, width=2)
    for slope in (1, -1):
        line(ax, (375, 145 - 62 * slope), (415, 145 + 62 * slope), color=INK, width=2.4)
    return fig


@figure(
    en={
        "encoder": "encoder",
        "decoder": "decoder, itself",
        "cross": "decoder, source",
        "keys": "keys",
        "queries": "queries",
    },
    zh={
        "encoder": "编码器看自己",
        "decoder": "解码器看自己",
        "cross": "解码器看原文",
        "keys": "键",
        "queries": "查询",
    },
)
def three_attentions(label):
    fig, ax = blank_canvas(262)
    size, top = 17, 60
    causal = np.tril(np.ones((9, 9), dtype=bool))
    for x, name, rows, columns, mask, color in (
        (46, "encoder", ENGLISH, ENGLISH, np.ones((5, 5), dtype=bool), SECOND),
        (192, "decoder", TARGET, TARGET, causal, FIRST),
        (420, "cross", TARGET, ENGLISH, np.ones((9, 5), dtype=bool), THIRD),
    ):
        fill_cells(ax, x, top, mask, size, color)
        labeled_grid(ax, x, top, rows, columns, size)
        middle, bottom = x + len(columns) * size / 2, top + len(rows) * size
        write(ax, middle, bottom + 17, label[name], color)
        write(ax, middle, bottom + 35, f"{len(rows)} × {len(columns)}")
    write(ax, 4, top + 6 * size + 55, label["queries"] + " ↓", QUERY, ha="left", size=12)
    write(ax, 4, top + 6 * size + 73, label["keys"] + " →", KEY, ha="left", size=12)
    return fig


@figure(
    en={
        "with": "with the causal mask",
        "without": "without it",
        "changed": "token changed",
        "output": "output that moves",
    },
    zh={
        "with": "有因果掩码",
        "without": "没有因果掩码",
        "changed": "改动的词元",
        "output": "变了的输出",
    },
)
def future(label):
    torch.manual_seed(0)
    config = TransformerConfig(9, 12, d_model=32, nhead=4, dropout=0.0)
    embedding, decoder = TokenEmbedding(12, 32), Decoder(config)
    position, memory = PositionalEncoding(32, dropout=0.0), torch.randn(1, 5, 32)
    ids = torch.tensor([[1, *range(4, 12)]])
    fig, ax = blank_canvas(294)
    size, top = 22, 66
    for x, name, mask in ((64, "with", causal_mask(9)), (310, "without", None)):
        with torch.no_grad():
            before = decoder(position(embedding(ids)), memory, mask)
            rows = []
            for i in range(9):
                changed = ids.index_fill(1, torch.tensor(i), 3)
                after = decoder(position(embedding(changed)), memory, mask)
                rows.append((after - before).norm(dim=-1)[0])
        moved = torch.stack(rows).numpy()
        signed_cells(ax, x, top, moved**0.5, size, largest=moved.max() ** 0.5)
        label_columns(ax, x, top, TARGET, size)
        if name == "with":
            label_rows(ax, x, top, TARGET, size)
        write(ax, x + 4.5 * size, 14, label[name])
    write(ax, 4, 280, f"{label['changed']} ↓", ha="left", size=12)
    write(ax, 262, 280, f"{label['output']} →", ha="right", size=12)
    return fig


@figure(
    en={
        "source": "source ids",
        "target": "target ids",
        "embed": "embedding, position",
        "encoders": "6 encoder layers",
        "decoders": "6 decoder layers",
        "memory": "memory",
        "linear": "linear layer",
        "logits": "logits",
        "padding": "padding mask",
        "causal": "causal and",
        "and": "padding mask",
        "vectors": "vectors",
    },
    zh={
        "source": "原文编号",
        "target": "译文编号",
        "embed": "嵌入与位置",
        "encoders": "6 个编码器层",
        "decoders": "6 个解码器层",
        "memory": "memory",
        "linear": "线性层",
        "logits": "logits",
        "padding": "填充掩码",
        "causal": "因果掩码",
        "and": "与填充掩码",
        "vectors": "向量",
    },
)
def flow(label):
    fig, ax = blank_canvas(452)
    left, right, half = 84, 352, 80

    def state(x, y, name, shape, color=INK):
        write(ax, x, y - 9, label[name], color)
        write(ax, x, y + 9, shape, size=12)

    for x, name, n in ((left, "source", 5), (right, "target", 9)):
        state(x, 18, name, f"(2, {n})")
        arrow(ax, (x, 38), (x, 52))
        box(ax, x - half, 54, 2 * half, 34, THIRD, label["embed"])
        arrow(ax, (x, 88), (x, 104))
        state(x, 122, "vectors", f"(2, {n}, 512)")
        arrow(ax, (x, 142), (x, 162 if x == left else 232))
    box(ax, left - half, 164, 2 * half, 54, SECOND, label["encoders"])
    box(ax, right - half, 234, 2 * half, 54, FIRST, label["decoders"])
    arrow(ax, (left, 218), (left, 241))
    state(left, 261, "memory", "(2, 5, 512)", THIRD)
    arrow(ax, (left + 44, 268), (right - half - 2, 268), color=THIRD, width=2)
    arrow(ax, (right, 288), (right, 304))
    state(right, 322, "vectors", "(2, 9, 512)")
    arrow(ax, (right, 342), (right, 356))
    box(ax, right - half, 358, 2 * half, 34, THIRD, label["linear"])
    arrow(ax, (right, 392), (right, 406))
    state(right, 425, "logits", "(2, 9, 12)")
    write(ax, 228, 160, label["padding"], size=12)
    write(ax, 228, 176, "(2, 1, 1, 5)", size=12)
    arrow(ax, (228, 190), (left + half + 2, 190))
    arrow(ax, (228, 190), (228, 250), (right - half - 2, 250))
    for y, text in ((152, label["causal"]), (168, label["and"]), (184, "(2, 1, 9, 9)")):
        write(ax, 476, y, text, size=12)
    arrow(ax, (476, 194), (476, 261), (right + half + 2, 261))
    return fig


@figure(
    en={"encoder": "encoder-only", "decoder": "decoder-only", "both": "encoder-decoder"},
    zh={"encoder": "仅编码器", "decoder": "仅解码器", "both": "编码器–解码器"},
)
def families(label):
    fig, ax = blank_canvas(250)
    size, top = 17, 48
    words = [*ENGLISH, *CHINESE[:4]]
    both = np.tril(np.ones((9, 9), dtype=bool))
    both[:5, :5] = True
    for x, name, tokens, mask, model in (
        (36, "encoder", ENGLISH, np.ones((5, 5), dtype=bool), "BERT"),
        (157, "decoder", words, np.tril(np.ones((9, 9), dtype=bool)), "GPT"),
        (350, "both", words, both, "T5, BART"),
    ):
        n, source = len(tokens), 0 if name == "decoder" else 5
        fill_cells(ax, x, top, mask[:source], size, SECOND)
        fill_cells(ax, x, top + source * size, mask[source:, :source], size, THIRD)
        fill_cells(ax, x + source * size, top + source * size, mask[source:, source:], size, FIRST)
        labeled_grid(ax, x, top, tokens, tokens, size)
        middle, bottom = x + n * size / 2, top + n * size
        write(ax, middle, bottom + 17, label[name])
        write(ax, middle, bottom + 35, model, size=12)
    return fig


@figure(
    en={
        "encoder": "encoder",
        "once": "runs once",
        "memory": "memory",
        "decoder": "decoder, nine times",
    },
    zh={"encoder": "编码器", "once": "只算一次", "memory": "memory", "decoder": "解码器，九次"},
)
def translating(label):
    fig, ax = blank_canvas(318)
    for i, word in enumerate(ENGLISH):
        write(ax, 20, 122 + 22 * i, word)
    arrow(ax, (40, 166), (50, 166))
    box(ax, 52, 112, 66, 108, SECOND)
    write(ax, 85, 156, label["encoder"])
    write(ax, 85, 176, label["once"], size=12)
    arrow(ax, (118, 166), (134, 166), color=THIRD, width=2)
    box(ax, 136, 30, 14, 282, THIRD, tint=0.3)
    write(ax, 143, 14, label["memory"], THIRD)
    write(ax, 340, 14, label["decoder"], FIRST)
    for step, token in enumerate([*CHINESE, "<eos>"]):
        y = 30 + 32 * step
        arrow(ax, (150, y + 13), (166, y + 13), color=THIRD)
        write(ax, 178, y + 13, str(step + 1), MUTED, size=12)
        x = 190
        for input_token in TARGET[: step + 1]:
            width = 46 if input_token.startswith("<") else 24
            box(ax, x, y, width, 26, MUTED, input_token, tint=0.08, edge=0.8)
            x += width
        arrow(ax, (x + 3, y + 13), (x + 25, y + 13))
        box(ax, x + 28, y, 46 if token == "<eos>" else 24, 26, FIRST, token, tint=0.2)
    return fig
