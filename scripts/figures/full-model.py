"""Figures of the chapter on the full model.

Texts are at least 15 units high, so that they can be read on a phone.
"""

import torch

from figures.diagram import arrow, blank_canvas, box, frame, line, write
from figures.style import FIRST, MUTED, SECOND, THIRD, figure
from transformer import Transformer, TransformerConfig

LARGE = {"size": 15}


@figure(
    en={
        "model": "Transformer",
        "src": "source ids",
        "tgt": "target ids",
        "times": "× 6",
        "memory": "encoder output",
        "tied": "one table,\nif tied",
        "logits": "logits",
        "training": "training: loss",
        "use": "inference: choose a token",
        "outside": "softmax is outside",
    },
    zh={
        "model": "Transformer",
        "src": "原文编号",
        "tgt": "译文编号",
        "times": "× 6",
        "memory": "编码器输出",
        "tied": "权重共享时\n同一张表",
        "logits": "logits",
        "training": "训练：损失",
        "use": "推理：选一个词元",
        "outside": "softmax 在框外",
    },
)
def architecture(label):
    fig, ax = blank_canvas(500)
    frame(ax, 4, 68, 512, 392, MUTED, 1, linestyle=(0, (4, 3)))
    write(ax, 14, 84, label["model"], MUTED, ha="left", **LARGE)
    left, right, width = 16, 222, 176
    for x, ids, side in ((left, "src", "src_embedding"), (right, "tgt", "tgt_embedding")):
        middle = x + width / 2
        write(ax, middle, 486, label[ids], **LARGE)
        arrow(ax, (middle, 476), (middle, 428))
        box(ax, x, 400, width, 28, THIRD, side, **LARGE)
        arrow(ax, (middle, 400), (middle, 384))
        box(ax, x, 356, width, 28, MUTED, "position", **LARGE)

    # the two stacks
    parts = {
        left: ("self_attention", "feed_forward"),
        right: ("self_attention", "cross_attention", "feed_forward"),
    }
    tops = {}
    for x, names in parts.items():
        color = SECOND if x == left else FIRST
        middle, bottom = x + width / 2, 334
        top = tops[x] = bottom - 30 - 44 * len(names)
        arrow(ax, (middle, 356), (middle, bottom))
        box(ax, x, top, width, bottom - top, color)
        title = "encoder.layers" if x == left else "decoder.layers"
        write(ax, x + 8, top + 15, title, color, ha="left", **LARGE)
        write(ax, x + width - 8, top + 15, label["times"], color, ha="right", **LARGE)
        for i, name in enumerate(names):
            box(ax, x + 14, bottom - 44 - 44 * i, width - 28, 30, color, name, **LARGE)
    cross = 334 - 44 - 44 + 15
    middle = left + width / 2
    turn = tops[left] - 26
    path = (middle, tops[left]), (middle, turn), (206, turn), (206, cross), (right + 14, cross)
    arrow(ax, *path, color=THIRD, width=1.8)
    write(ax, middle + 30, turn - 13, label["memory"], THIRD, **LARGE)

    # the output layer
    middle = right + width / 2
    arrow(ax, (middle, tops[right]), (middle, 124))
    box(ax, right, 96, width, 28, THIRD, "output", **LARGE)
    arrow(ax, (middle, 96), (middle, 44))
    write(ax, middle + 10, 80, label["logits"], ha="left", **LARGE)
    x = right + width
    line(ax, (x, 414), (x + 22, 414), (x + 22, 110), (x, 110), color=THIRD, linestyle=(0, (2, 2)))
    write(ax, x + 26, 266, label["tied"], THIRD, ha="left", **LARGE)
    write(ax, middle - 10, 55, label["outside"], MUTED, ha="right", **LARGE)
    write(ax, middle, 32, label["training"], **LARGE)
    write(ax, middle, 10, label["use"], **LARGE)
    return fig


@figure(
    en={"whole": "translation", "given": "input", "targets": "targets", "decoder": "decoder"},
    zh={"whole": "译文", "given": "输入", "targets": "目标", "decoder": "解码器"},
)
def shifted(label):
    fig, ax = blank_canvas(262)
    tokens = ["<bos>", *"我们工作", "<eos>"]
    step, start, half = 72, 116, 31
    rows = {"whole": 24, "given": 96, "targets": 232}
    for name, y in rows.items():
        write(ax, 4, y, label[name], ha="left", **LARGE)

    def cell(column, y, token, color):
        box(ax, start + step * column - half, y - 16, 2 * half, 32, color, token, **LARGE)

    for i, token in enumerate(tokens):
        cell(i, rows["whole"], token, MUTED)
    for i in range(5):
        x = start + step * i
        arrow(ax, (x, 40), (x, 79))
        cell(i, rows["given"], tokens[i], SECOND)
        arrow(ax, (x, 113), (x, 140))
        arrow(ax, (x, 188), (x, 215))
        cell(i, rows["targets"], tokens[i + 1], FIRST)
    box(ax, start - half, 140, 4 * step + 2 * half, 48, THIRD, label["decoder"], **LARGE)
    return fig


PARTS = ("source", "target", "encoder", "decoder", "output")


@figure(
    en={
        "untied": "untied",
        "tied": "target and output as one",
        "joint": "all three as one, as in the paper",
        "source": "source",
        "target": "target",
        "encoder": "encoder",
        "decoder": "decoder",
        "output": "output",
        "table": "one table",
        "unit": ": {0:.1f} million",
        "part": "{0:.1f}",
    },
    zh={
        "untied": "不共享",
        "tied": "译文表与输出层共享",
        "joint": "三者共享，论文如此",
        "source": "原文表",
        "target": "译文表",
        "encoder": "编码器",
        "decoder": "解码器",
        "output": "输出层",
        "table": "一张表",
        "unit": "：{1}",
        "part": "{1:.0f} 万",
    },
)
def parameters(label):
    with torch.device("meta"):
        model = Transformer(TransformerConfig(37000, 37000))
    modules = model.src_embedding, model.tgt_embedding, model.encoder, model.decoder, model.output
    counts = {
        name: sum(p.numel() for p in module.parameters()) / 1e6
        for name, module in zip(PARTS, modules, strict=True)
    }
    fig, ax = blank_canvas(244)
    rows = {"untied": PARTS, "tied": PARTS[:4], "joint": PARTS[1:4]}
    scale = 512 / sum(counts.values())
    for i, (row, parts) in enumerate(rows.items()):
        y = 8 + 80 * i
        x = 4.0
        total = sum(counts[name] for name in parts)
        chinese = f"{total / 100:.2f} 亿" if total > 100 else f"{100 * round(total, 1):.0f} 万"
        write(ax, 4, y + 6, label[row] + label["unit"].format(total, chinese), ha="left", **LARGE)
        for name in parts:
            width = counts[name] * scale
            color = {"encoder": SECOND, "decoder": FIRST}.get(name, THIRD)
            joint = row == "joint" and name == "target"
            text = label["table"] if joint else label[name]
            millions = label["part"].format(counts[name], 100 * round(counts[name], 1))
            box(ax, x, y + 18, width, 44, color, f"{text}\n{millions}", **LARGE)
            x += width
    return fig
