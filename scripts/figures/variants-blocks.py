"""Figures of the chapter on variants: what is in a layer, and whole models."""

import torch
import torch.nn.functional as F

from figures.diagram import (
    arrow,
    blank_canvas,
    box,
    fill_cells,
    frame,
    grid,
    label_columns,
    label_rows,
    line,
    write,
)
from figures.style import FIRST, INK, KEY, MUTED, QUERY, SECOND, THIRD, VALUE, canvas, figure
from transformer import LayerNorm, causal_mask
from variants.rmsnorm import RMSNorm
from variants.swiglu import gelu


@figure(en={"feature": "feature"}, zh={"feature": "特征"})
def norms(label):
    x = torch.tensor([1.0, 3.0, 3.0, 9.0])
    fig, axes = canvas(height=230, columns=3)
    norms = {"": lambda x: x, "RMSNorm": RMSNorm(4), "LayerNorm": LayerNorm(4)}
    for ax, (name, norm) in zip(axes, norms.items(), strict=True):
        for shift, values, color in ((-0.2, x, FIRST), (0.2, x + 10, SECOND)):
            numbers = norm(values).detach().tolist()
            title = "x" if values is x else "x + 10"
            positions = [position + shift for position in range(1, 5)]
            ax.bar(positions, numbers, width=0.36, color=color, alpha=0.6, label=title)
        ax.axhline(0, color=MUTED, linewidth=0.6)
        ax.set_title(name)
        ax.set_xticks(range(1, 5))
        ax.set_xlabel(label["feature"])
    axes[0].legend(loc="upper left", bbox_to_anchor=(0, 1.22), ncols=2, handlelength=1)
    return fig


@figure(
    en={"x": "x", "gate": "gate", "up": "up = {}"},
    zh={"x": "x", "gate": "门控", "up": "up = {}"},
)
def activations(label):
    fig, (left, right) = canvas(height=250, columns=2)
    x = torch.linspace(-4, 4, 161)
    for name, y, color in (
        ("ReLU", x.relu(), FIRST),
        ("GELU", gelu(x), SECOND),
        ("SiLU", F.silu(x), THIRD),
    ):
        left.plot(x, y, label=name, color=color)
    left.set_xlabel(label["x"])
    left.legend(loc="upper left")
    left.set_ylim(-0.6, 4)
    for up, color in ((1.0, FIRST), (0.5, SECOND), (-0.5, THIRD)):
        name = label["up"].format(f"{up:g}".replace("-", "−"))
        right.plot(x, F.silu(x) * up, label=name, color=color)
    right.set_xlabel(label["gate"])
    right.legend(loc="upper left")
    right.set_ylim(-2.2, 4)
    for ax in (left, right):
        ax.axhline(0, color=MUTED, linewidth=0.6)
    return fig


@figure(
    en={
        "8": "multi-head: 8 of 8",
        "2": "grouped: 2 of 8",
        "1": "multi-query: 1 of 8",
        "query": "queries",
        "key": "keys",
        "value": "values",
    },
    zh={
        "8": "多头：8 个里 8 个",
        "2": "分组查询：8 个里 2 个",
        "1": "多查询：8 个里 1 个",
        "query": "查询",
        "key": "键",
        "value": "值",
    },
)
def shared_heads(label):
    fig, ax = blank_canvas(326)
    pitch, size, left = 52, 36, 104
    for row, shared in enumerate((8, 2, 1)):
        top = 12 + row * 110
        write(ax, left - 2, top, label[str(shared)], ha="left", size=16)
        for name, y, color in (("query", top + 23, QUERY), ("key", top + 69, KEY)):
            write(ax, left - 12, y, label[name], color, ha="right", size=16)
        write(ax, left - 12, top + 84, label["value"], VALUE, ha="right", size=16)
        group = 8 // shared
        for head in range(8):
            x = left + head * pitch
            middle = left + (head // group * group + (group - 1) / 2) * pitch + size / 2
            line(ax, (x + size / 2, top + 31), (middle, top + 62))
            box(ax, x, top + 15, size, 16, QUERY)
        for head in range(shared):
            x = left + (head * group + (group - 1) / 2) * pitch
            box(ax, x, top + 62, size, 14, KEY)
            box(ax, x, top + 77, size, 14, VALUE)
    return fig


@figure(
    en={
        "class": "class\ntoken",
        "encoder": "encoder",
        "head": "linear layer",
        "answer": "question?",
        "yes": "yes",
        "no": "no",
    },
    zh={
        "class": "分类\n词元",
        "encoder": "编码器",
        "head": "线性层",
        "answer": "是问句吗？",
        "yes": "是",
        "no": "不是",
    },
)
def class_token(label):
    fig, ax = blank_canvas(236)
    words = ["is", "the", "teacher", "busy"]
    for i, word in enumerate([label["class"], *words]):
        x = 40 + i * 92
        box(ax, x, 184, 76, 42, FIRST if i == 0 else MUTED, word, size=12)
        arrow(ax, (x + 38, 184), (x + 38, 156))
        arrow(ax, (x + 38, 114), (x + 38, 88), color=FIRST if i == 0 else MUTED)
        box(ax, x, 64, 76, 24, FIRST if i == 0 else MUTED, tint=0.14 if i == 0 else 0.04)
    box(ax, 24, 116, 476, 40, SECOND, label["encoder"])
    arrow(ax, (78, 64), (78, 40), color=FIRST)
    box(ax, 28, 8, 100, 32, SECOND, label["head"], size=12)
    arrow(ax, (128, 24), (172, 24), color=FIRST)
    write(ax, 184, 24, f"{label['answer']}  {label['yes']} / {label['no']}", ha="left")
    return fig


@figure(
    en={"causal": "causal", "prefix": "with a prefix", "loss": "■ in the loss"},
    zh={"causal": "因果", "prefix": "带前缀", "loss": "■ 计入损失"},
)
def one_sequence(label):
    names = ["we", "work", "<bos>", *"我们工作"]
    size, top, n = 26, 66, len(names)
    fig, ax = blank_canvas(300)
    order = causal_mask(n)[0, 0]
    prefix = order.clone()
    prefix[:3, :3] = True
    for x, mask, title in ((54, order, "causal"), (312, prefix, "prefix")):
        fill_cells(ax, x, top, mask & order, size, SECOND, 0.5)
        fill_cells(ax, x, top, mask & ~order, size, FIRST, 0.5)
        grid(ax, x, top, n, n, size)
        label_rows(ax, x, top, names, size)
        label_columns(ax, x, top, names, size)
        write(ax, x + n * size / 2, top + n * size + 18, label[title])
        for row in range(2, n):
            frame(ax, x + n * size + 7, top + row * size + 9, 8, 8, INK, facecolor=INK)
    write(ax, 260, 287, label["loss"], size=12)
    return fig


LAYER = {
    "en": {
        "2017": "2017",
        "2023": "2023",
        "self": "self-attention",
        "cross": "cross-attention",
        "network": "ReLU network",
        "swiglu": "SwiGLU",
        "grouped": "grouped queries, RoPE",
        "norm": "LayerNorm",
        "rms": "RMSNorm",
        "memory": "memory",
    },
    "zh": {
        "2017": "2017",
        "2023": "2023",
        "self": "自注意力",
        "cross": "交叉注意力",
        "network": "ReLU 前馈网络",
        "swiglu": "SwiGLU",
        "grouped": "分组查询、RoPE",
        "norm": "层归一化",
        "rms": "RMSNorm",
        "memory": "memory",
    },
}


def branch(ax, x, bottom, names, label) -> float:
    """A residual branch from the trunk at y = bottom through the boxes; returns the sum's y."""
    side = x + 128
    top_y = bottom - 18 - 36 * len(names)
    line(ax, (x, bottom), (side, bottom), zorder=0.5)
    line(ax, (side, bottom), (side, top_y), zorder=0.5)
    arrow(ax, (side, top_y), (x + 9, top_y))
    for i, name in enumerate(names):
        color = THIRD if name == "rms" else SECOND
        box(ax, side - 80, bottom - 39 - 36 * i, 160, 26, color, label[name], size=12)
    box(ax, x - 9, top_y - 9, 18, 18, INK, "+", tint=0.04)
    return top_y


@figure(**LAYER)
def two_layers(label):
    fig, ax = blank_canvas(388)
    for x, title in ((50, "2017"), (306, "2023")):
        line(ax, (x, 352), (x, 24), zorder=0.5)
        arrow(ax, (x, 24), (x, 8))
        write(ax, x, 372, label[title])
    bottom = 346.0
    for name in ("self", "cross", "network"):
        top_y = branch(ax, 50, bottom, [name], label)
        box(ax, 4, top_y - 42, 92, 26, THIRD, label["norm"], size=12)
        if name == "cross":
            write(ax, 178, bottom + 17, label["memory"], size=12)
            line(ax, (212, bottom + 17), (272, bottom + 17))
            arrow(ax, (272, bottom + 17), (272, bottom - 26), (259, bottom - 26))
        bottom = top_y - 52
    top_y = branch(ax, 306, 346, ["rms", "grouped"], label)
    branch(ax, 306, top_y - 30, ["rms", "swiglu"], label)
    return fig
