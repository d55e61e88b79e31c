"""Figures of the chapter on the full model."""

import torch

from figures.diagram import CHINESE, arrow, blank_canvas, box, frame, line, write
from figures.style import FIRST, MUTED, SECOND, THIRD, figure
from transformer import Transformer, TransformerConfig


@figure(
    en={
        "model": "Transformer",
        "src": "source ids",
        "tgt": "target ids",
        "times": "× 6",
        "memory": "memory",
        "tied": "one table,\nif tied",
        "logits": "logits",
        "training": "training: cross-entropy",
        "use": "inference: choose a token",
        "outside": "softmax is outside",
    },
    zh={
        "model": "Transformer",
        "src": "原文编号",
        "tgt": "译文编号",
        "times": "× 6",
        "memory": "memory",
        "tied": "权重共享时\n同一张表",
        "logits": "logits",
        "training": "训练：交叉熵",
        "use": "推理：选一个词元",
        "outside": "softmax 在框外",
    },
)
def architecture(label):
    fig, ax = blank_canvas(500)
    frame(ax, 4, 40, 512, 392, MUTED, 1, linestyle=(0, (4, 3)))
    write(ax, 14, 54, label["model"], MUTED, ha="left")
    left, right, width = 30, 240, 170
    for x, ids, side in ((left, "src", "src_embedding"), (right, "tgt", "tgt_embedding")):
        middle = x + width / 2
        write(ax, middle, 14, label[ids])
        arrow(ax, (middle, 24), (middle, 72))
        box(ax, x, 72, width, 28, THIRD, side)
        arrow(ax, (middle, 100), (middle, 116))
        box(ax, x, 116, width, 28, MUTED, "position")

    # the two stacks
    parts = {
        left: ("self_attention", "feed_forward"),
        right: ("self_attention", "cross_attention", "feed_forward"),
    }
    bottoms = {}
    for x, names in parts.items():
        color = SECOND if x == left else FIRST
        middle, top = x + width / 2, 166
        bottom = top + 30 + 44 * len(names)
        arrow(ax, (middle, 144), (middle, top))
        box(ax, x, top, width, bottom - top, color)
        title = "encoder.layers" if x == left else "decoder.layers"
        write(ax, x + 8, top + 15, title, color, ha="left")
        write(ax, x + width - 8, top + 15, label["times"], color, ha="right")
        for i, name in enumerate(names):
            box(ax, x + 14, top + 30 + 44 * i, width - 28, 30, color, name)
        bottoms[x] = bottom
    cross = 166 + 30 + 44 + 15
    middle = left + width / 2
    turn = bottoms[left] + 26
    path = (middle, bottoms[left]), (middle, turn), (222, turn), (222, cross), (right + 14, cross)
    arrow(ax, *path, color=THIRD, width=1.8)
    write(ax, middle + 62, turn + 13, label["memory"], THIRD)

    # the output layer
    middle = right + width / 2
    arrow(ax, (middle, bottoms[right]), (middle, 376))
    box(ax, right, 376, width, 28, THIRD, "output")
    arrow(ax, (middle, 404), (middle, 456))
    write(ax, middle + 10, 420, label["logits"], ha="left")
    x = right + width
    line(ax, (x, 86), (x + 22, 86), (x + 22, 390), (x, 390), color=THIRD, linestyle=(0, (2, 2)))
    write(ax, x + 28, 234, label["tied"], THIRD, ha="left", size=12)
    write(ax, 14, 452, label["outside"], MUTED, ha="left")
    write(ax, middle, 468, label["training"])
    write(ax, middle, 488, label["use"])
    return fig


@figure(
    en={"whole": "target", "given": "given", "answers": "answers", "decoder": "decoder"},
    zh={"whole": "译文", "given": "输入", "answers": "答案", "decoder": "解码器"},
)
def shifted(label):
    fig, ax = blank_canvas(262)
    tokens = ["<bos>", *CHINESE, "<eos>"]
    step, start = 45, 92
    rows = {"whole": 24, "given": 96, "answers": 232}
    for name, y in rows.items():
        write(ax, 4, y, label[name], ha="left")

    def cell(column, y, token, color):
        x = start + step * column
        options = {"size": 11.5} if len(token) > 1 else {}
        box(ax, x - 20, y - 15, 40, 30, color, token, **options)

    for i, token in enumerate(tokens):
        cell(i, rows["whole"], token, MUTED)
    for i in range(9):
        x = start + step * i
        arrow(ax, (x, 39), (x, 80))
        cell(i, rows["given"], tokens[i], SECOND)
        arrow(ax, (x, 112), (x, 140))
        arrow(ax, (x, 188), (x, 216))
        cell(i, rows["answers"], tokens[i + 1], FIRST)
    box(ax, start - 20, 140, 8 * step + 40, 48, THIRD, label["decoder"])
    return fig


@figure(
    en={
        "encoder": "encoder: each sees all",
        "decoder": "decoder: each sees the past",
        "cross": "cross-attention",
        "answers": "answers",
    },
    zh={
        "encoder": "编码器：互相都可见",
        "decoder": "解码器：只看前面",
        "cross": "交叉注意力",
        "answers": "答案",
    },
)
def detour(label):
    fig, ax = blank_canvas(262)
    tokens = ["17", "4", "9", "12", "6"]
    left = [42 + 46 * i for i in range(5)]
    right = [294 + 46 * i for i in range(5)]
    write(ax, left[2], 14, label["encoder"], SECOND)
    write(ax, right[2], 14, label["decoder"], FIRST)
    for i, a in enumerate(left):
        for b in left:
            line(ax, (a, 60), (b, 112), width=0.5)
        for b in right[i:]:
            line(ax, (right[i], 60), (b, 112), width=0.5)
    line(ax, (left[3], 60), (left[3], 112), color=THIRD, width=2.4)
    for i, token in enumerate(tokens):
        box(ax, left[i] - 18, 32, 36, 28, THIRD if i == 3 else SECOND, token)
        box(ax, left[i] - 18, 112, 36, 28, THIRD if i == 3 else SECOND)
        box(ax, right[i] - 18, 32, 36, 28, FIRST, token)
        box(ax, right[i] - 18, 112, 36, 28, FIRST)
    write(ax, left[3] - 10, 168, label["cross"], THIRD, ha="right")
    write(ax, 266, 236, label["answers"], ha="right")
    for i, x in enumerate(right):
        box(ax, x - 18, 222, 36, 28, THIRD if i == 2 else MUTED, [*tokens[1:], "8"][i])
        arrow(ax, (x, 140), (x, 222))
    path = (left[3], 140), (left[3], 168), (right[2], 168), (right[2], 140)
    arrow(ax, *path, color=THIRD, width=2.4)
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
        "unit": "：{1:.0f} 万",
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
    fig, ax = blank_canvas(196)
    rows = {"untied": PARTS, "tied": PARTS[:4], "joint": PARTS[1:4]}
    scale = 512 / sum(counts.values())
    for i, (row, parts) in enumerate(rows.items()):
        y = 8 + 64 * i
        x = 4.0
        total = sum(counts[name] for name in parts)
        write(ax, 4, y + 6, label[row] + label["unit"].format(total, 100 * total), ha="left")
        for name in parts:
            width = counts[name] * scale
            color = {"encoder": SECOND, "decoder": FIRST}.get(name, THIRD)
            joint = row == "joint" and name == "target"
            text = label["table"] if joint else label[name]
            box(ax, x, y + 18, width, 30, color, text, size=12)
            x += width
    return fig
