"""Figures of the chapter on variants: what is in a layer, and whole models."""

import torch
import torch.nn.functional as F

from figures.diagram import above, arrow, beside, box, cells, frame, grid, line, sheet, write
from figures.style import FIRST, INK, KEY, MUTED, QUERY, SECOND, THIRD, VALUE, canvas, figure
from transformer import LayerNorm, causal_mask
from variants.rmsnorm import RMSNorm
from variants.swiglu import gelu


@figure(en={"feature": "feature"}, zh={"feature": "特征"})
def norms(label):
    x = torch.tensor([1.0, 2.0, 2.0, 4.0])
    fig, axes = canvas(height=230, columns=3)
    made = {"": lambda x: x, "RMSNorm": RMSNorm(4), "LayerNorm": LayerNorm(4)}
    for ax, (name, norm) in zip(axes, made.items(), strict=True):
        for shift, given, colour in ((-0.2, x, FIRST), (0.2, x + 10, SECOND)):
            numbers = norm(given).detach().tolist()
            title = "x" if given is x else "x + 10"
            places = [place + shift for place in range(1, 5)]
            ax.bar(places, numbers, width=0.36, color=colour, alpha=0.6, label=title)
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
    for name, y, colour in (
        ("ReLU", x.relu(), FIRST),
        ("GELU", gelu(x), SECOND),
        ("SiLU", F.silu(x), THIRD),
    ):
        left.plot(x, y, label=name, color=colour)
    left.set_xlabel(label["x"])
    left.legend(loc="upper left")
    left.set_ylim(-0.6, 4)
    for up, colour in ((1.0, FIRST), (0.5, SECOND), (-0.5, THIRD)):
        name = label["up"].format(f"{up:g}".replace("-", "−"))
        right.plot(x, F.silu(x) * up, label=name, color=colour)
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
    fig, ax = sheet(326)
    pitch, size, left = 52, 36, 104
    for row, shared in enumerate((8, 2, 1)):
        top = 12 + row * 110
        write(ax, left - 2, top, label[str(shared)], ha="left", size=12)
        for name, y, colour in (("query", top + 23, QUERY), ("key", top + 69, KEY)):
            write(ax, left - 12, y, label[name], colour, ha="right", size=12)
        write(ax, left - 12, top + 84, label["value"], VALUE, ha="right", size=12)
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
        "qkv": "to_qkv(x), one token",
        "chunk": "chunk(3, dim=-1)",
        "rearrange": "b n (h d) → b h n d",
        "head": "h = {}",
        "query": "queries",
        "key": "keys",
        "value": "values",
    },
    zh={
        "qkv": "to_qkv(x)，一个词元",
        "chunk": "chunk(3, dim=-1)",
        "rearrange": "b n (h d) → b h n d",
        "head": "h = {}",
        "query": "查询",
        "key": "键",
        "value": "值",
    },
)
def fused_qkv(label):
    fig, ax = sheet(286)
    parts = (("query", QUERY), ("key", KEY), ("value", VALUE))
    write(ax, 20, 14, label["qkv"], ha="left")
    for i, (_, colour) in enumerate(parts):
        box(ax, 20 + i * 160, 28, 160, 26, colour)
    write(ax, 112, 74, label["chunk"], ha="left", size=12)
    write(ax, 100, 150, label["rearrange"], ha="left", size=12)
    for i, (name, colour) in enumerate(parts):
        x = 20 + i * 170
        arrow(ax, (20 + i * 160 + 80, 54), (x + 70, 96))
        for head in range(4):
            box(ax, x + head * 35, 98, 35, 26, colour, str(head), tint=0.1 + 0.12 * head)
        arrow(ax, (x + 70, 124), (x + 70, 172))
        for head in range(4):
            box(ax, x + 53, 174 + head * 22, 35, 22, colour, str(head), tint=0.1 + 0.12 * head)
            if i == 0:
                write(ax, x + 46, 185 + head * 22, label["head"].format(head), ha="right", size=12)
        write(ax, x + 70, 274, label[name], colour)
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
    fig, ax = sheet(236)
    words = ["is", "the", "teacher", "busy"]
    for i, word in enumerate([label["class"], *words]):
        x = 40 + i * 92
        box(ax, x, 184, 76, 42, FIRST if i == 0 else MUTED, word, size=12)
        arrow(ax, (x + 38, 184), (x + 38, 156))
        arrow(ax, (x + 38, 114), (x + 38, 88), colour=FIRST if i == 0 else MUTED)
        box(ax, x, 64, 76, 24, FIRST if i == 0 else MUTED, tint=0.14 if i == 0 else 0.04)
    box(ax, 24, 116, 476, 40, SECOND, label["encoder"])
    arrow(ax, (78, 64), (78, 40), colour=FIRST)
    box(ax, 28, 8, 100, 32, SECOND, label["head"], size=12)
    arrow(ax, (128, 24), (172, 24), colour=FIRST)
    write(ax, 184, 24, f"{label['answer']}  {label['yes']} / {label['no']}", ha="left")
    return fig


@figure(
    en={"causal": "causal", "prefix": "with a prefix", "loss": "■ in the loss"},
    zh={"causal": "因果", "prefix": "带前缀", "loss": "■ 计入损失"},
)
def one_sequence(label):
    names = ["we", "work", "<bos>", *"我们工作"]
    size, top, n = 26, 66, len(names)
    fig, ax = sheet(300)
    order = causal_mask(n)[0, 0]
    prefix = order.clone()
    prefix[:3, :3] = True
    for x, mask, title in ((54, order, "causal"), (312, prefix, "prefix")):
        cells(ax, x, top, mask & order, size, SECOND, 0.5)
        cells(ax, x, top, mask & ~order, size, FIRST, 0.5)
        grid(ax, x, top, n, n, size)
        beside(ax, x, top, names, size)
        above(ax, x, top, names, size)
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


def branch(ax, x, low, names, label) -> float:
    """Off the road at low, through the boxes, and added to it again; where that is."""
    side = x + 128
    high = low - 18 - 36 * len(names)
    line(ax, (x, low), (side, low), zorder=0.5)
    line(ax, (side, low), (side, high), zorder=0.5)
    arrow(ax, (side, high), (x + 9, high))
    for i, name in enumerate(names):
        colour = THIRD if name == "rms" else SECOND
        box(ax, side - 80, low - 39 - 36 * i, 160, 26, colour, label[name], size=12)
    box(ax, x - 9, high - 9, 18, 18, INK, "+", tint=0.04)
    return high


@figure(**LAYER)
def two_layers(label):
    fig, ax = sheet(388)
    for x, title in ((50, "2017"), (306, "2023")):
        line(ax, (x, 352), (x, 24), zorder=0.5)
        arrow(ax, (x, 24), (x, 8))
        write(ax, x, 372, label[title])
    low = 346.0
    for name in ("self", "cross", "network"):
        high = branch(ax, 50, low, [name], label)
        box(ax, 4, high - 42, 92, 26, THIRD, label["norm"], size=12)
        if name == "cross":
            write(ax, 178, low + 17, label["memory"], size=12)
            line(ax, (212, low + 17), (272, low + 17))
            arrow(ax, (272, low + 17), (272, low - 26), (259, low - 26))
        low = high - 52
    high = branch(ax, 306, 346, ["rms", "grouped"], label)
    branch(ax, 306, high - 30, ["rms", "swiglu"], label)
    return fig
