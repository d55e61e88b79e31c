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
from figures.overview import narrow_canvas
from figures.style import FIRST, INK, KEY, MUTED, QUERY, SECOND, THIRD, VALUE, canvas, figure
from transformer import LayerNorm, causal_mask
from variants.rmsnorm import RMSNorm
from variants.swiglu import gelu


@figure(en={"feature": "feature"}, zh={"feature": "特征"})
def norms(label):
    x = torch.tensor([1.0, 3.0, 3.0, 9.0])
    fig, axes = canvas(210, columns=3)
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
    axes[0].legend(loc="upper left", bbox_to_anchor=(-0.6, 1.26), ncols=2, handlelength=1)
    return fig


@figure(en={"x": "x", "output": "output"}, zh={"x": "x", "output": "输出"})
def activations(label):
    fig, ax = canvas(200)
    x = torch.linspace(-4, 4, 161)
    for name, y, color in (
        ("ReLU", x.relu(), FIRST),
        ("GELU", gelu(x), SECOND),
        ("SiLU", F.silu(x), THIRD),
    ):
        ax.plot(x, y, label=name, color=color)
    ax.axhline(0, color=MUTED, linewidth=0.6)
    ax.set_xlabel(label["x"])
    ax.set_ylabel(label["output"])
    ax.legend(loc="upper left")
    ax.set_ylim(-0.6, 4)
    return fig


@figure(
    en={"gate": "gate", "up": "up = {}", "passes": "SiLU(gate) · up"},
    zh={"gate": "门控", "up": "up = {}", "passes": "SiLU(门控) · up"},
)
def gate(label):
    fig, ax = canvas(210)
    x = torch.linspace(-4, 4, 161)
    for up, color in ((1.0, FIRST), (0.5, SECOND), (-0.5, THIRD)):
        name = label["up"].format(f"{up:g}".replace("-", "−"))
        ax.plot(x, F.silu(x) * up, label=name, color=color)
    ax.axhline(0, color=MUTED, linewidth=0.6)
    ax.set_xlabel(label["gate"])
    ax.set_ylabel(label["passes"])
    ax.legend(loc="upper left")
    ax.set_ylim(-2.2, 4)
    return fig


@figure(
    en={
        "4": "multi-head: 4 heads of keys and values",
        "2": "grouped: 2 heads of keys and values",
        "1": "multi-query: 1 head of keys and values",
        "query": "queries",
        "key": "keys",
        "value": "values",
    },
    zh={
        "4": "多头：4 个键值头",
        "2": "分组查询：2 个键值头",
        "1": "多查询：1 个键值头",
        "query": "查询",
        "key": "键",
        "value": "值",
    },
)
def shared_heads(label):
    fig, ax = blank_canvas(326)
    pitch, size, left = 80, 48, 124
    for row, shared in enumerate((4, 2, 1)):
        top = 12 + row * 110
        write(ax, left - 2, top, label[str(shared)], ha="left", size=16)
        for name, y, color in (("query", top + 23, QUERY), ("key", top + 69, KEY)):
            write(ax, left - 12, y, label[name], color, ha="right", size=16)
        write(ax, left - 12, top + 84, label["value"], VALUE, ha="right", size=16)
        group = 4 // shared
        for head in range(4):
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
    fig, ax = narrow_canvas(236)
    words = ["is", "the", "teacher", "busy"]
    for i, word in enumerate([label["class"], *words]):
        x = 12 + i * 77
        box(ax, x, 184, 68, 42, FIRST if i == 0 else MUTED, word, size=13)
        arrow(ax, (x + 34, 184), (x + 34, 156))
        arrow(ax, (x + 34, 114), (x + 34, 88), color=FIRST if i == 0 else MUTED)
        box(ax, x, 64, 68, 24, FIRST if i == 0 else MUTED, tint=0.14 if i == 0 else 0.04)
    box(ax, 4, 116, 392, 40, SECOND, label["encoder"])
    arrow(ax, (46, 64), (46, 40), color=FIRST)
    box(ax, 4, 8, 100, 32, SECOND, label["head"], size=13)
    arrow(ax, (104, 24), (148, 24), color=FIRST)
    write(ax, 160, 24, f"{label['answer']}  {label['yes']} / {label['no']}", ha="left")
    return fig


@figure(
    en={"causal": "causal", "prefix": "with a prefix", "loss": "■ in the loss"},
    zh={"causal": "因果", "prefix": "带前缀", "loss": "■ 计入损失"},
)
def one_sequence(label):
    names = ["we", "work", "<bos>", *"我们工作"]
    size, top, n = 20, 66, len(names)
    fig, ax = narrow_canvas(254)
    order = causal_mask(n)[0, 0]
    prefix = order.clone()
    prefix[:3, :3] = True
    for x, mask, title in ((46, order, "causal"), (246, prefix, "prefix")):
        fill_cells(ax, x, top, mask & order, size, SECOND, 0.5)
        fill_cells(ax, x, top, mask & ~order, size, FIRST, 0.5)
        grid(ax, x, top, n, n, size)
        label_rows(ax, x, top, names, size)
        label_columns(ax, x, top, names, size)
        write(ax, x + n * size / 2, top + n * size + 16, label[title])
        for row in range(2, n):
            frame(ax, x + n * size + 4, top + row * size + 6, 8, 8, INK, facecolor=INK)
    write(ax, 200, 242, label["loss"])
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
        "memory": "编码器输出",
    },
}


def branch(ax, x, bottom, names, label, side, width) -> float:
    """A residual branch from the trunk at (x, bottom) through the boxes; returns the sum's y.

    The boxes have their middle at x = side.
    """
    top_y = bottom - 18 - 36 * len(names)
    line(ax, (x, bottom), (side, bottom), zorder=0.5)
    line(ax, (side, bottom), (side, top_y), zorder=0.5)
    arrow(ax, (side, top_y), (x + 9, top_y))
    for i, name in enumerate(names):
        color = THIRD if name == "rms" else SECOND
        box(ax, side - width / 2, bottom - 39 - 36 * i, width, 26, color, label[name], size=12.5)
    box(ax, x - 9, top_y - 9, 18, 18, INK, "+", tint=0.04)
    return top_y


@figure(**LAYER)
def two_layers(label):
    fig, ax = narrow_canvas(388)
    left, right = 40, 232
    for x, title in ((left, "2017"), (right, "2023")):
        line(ax, (x, 352), (x, 24), zorder=0.5)
        arrow(ax, (x, 24), (x, 8))
        write(ax, x, 372, label[title])
    bottom = 346.0
    for name in ("self", "cross", "network"):
        top_y = branch(ax, left, bottom, [name], label, side=138, width=112)
        box(ax, 2, top_y - 42, 76, 26, THIRD, label["norm"], size=12.5)
        if name == "cross":
            write(ax, 170, bottom + 17, label["memory"], size=12.5, ha="right")
            line(ax, (174, bottom + 17), (208, bottom + 17))
            arrow(ax, (208, bottom + 17), (208, bottom - 26), (195, bottom - 26))
        bottom = top_y - 52
    top_y = branch(ax, right, 346, ["rms", "grouped"], label, side=324, width=144)
    branch(ax, right, top_y - 30, ["rms", "swiglu"], label, side=324, width=144)
    return fig
