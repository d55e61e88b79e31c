"""Figures of the page on modern decoders."""

from itertools import pairwise

import torch

from figures.diagram import arrow, box, frame, line, plus, write
from figures.examples import run_example
from figures.overview import narrow_canvas
from figures.style import (
    FIRST,
    INK,
    KEY,
    MUTED,
    PAPER,
    SECOND,
    THIRD,
    VALUE,
    canvas,
    figure,
    powers_of_ten,
)
from variants.latent_attention import LatentAttention

LAYERS, HEAD_DIM = 61, 128  # of DeepSeek-V3
SUBSCRIPTS = "₀₁₂₃₄₅₆"


@figure(
    en={
        "multi-head": "multi-head, 128 heads",
        "grouped": "grouped, 8 heads",
        "latent": "latent",
        "multi-query": "multi-query, 1 head",
        "bytes": "kilobytes in the cache for a token",
    },
    zh={
        "multi-head": "多头，128 个头",
        "grouped": "分组查询，8 个头",
        "latent": "潜在注意力",
        "multi-query": "多查询，1 个头",
        "bytes": "缓存里每个词元的 kB 数",
    },
)
def cache(label):
    latent = LatentAttention(8, 2).kv_down.out_features
    numbers = {
        "multi-head": 2 * 128 * HEAD_DIM,
        "grouped": 2 * 8 * HEAD_DIM,
        "latent": latent,
        "multi-query": 2 * HEAD_DIM,
    }
    fig, ax = canvas(height=200)
    for i, count in enumerate(numbers.values()):
        size = count * LAYERS * 2 / 1000
        color = (FIRST, SECOND, VALUE, THIRD)[i]
        ax.plot(size, i, "o", color=color, markersize=9)
        ax.text(size * 1.25, i, f"{size:,.0f}", va="center")
    ax.set_xscale("log")
    powers_of_ten(ax.xaxis)
    ax.set_xlim(10, 20000)
    ax.grid(axis="x")
    ax.set_ylim(-0.6, 3.6)
    ax.set_yticks(range(len(numbers)), [label[name] for name in numbers])
    ax.invert_yaxis()
    ax.set_xlabel(label["bytes"])
    return fig


@figure(
    en={
        "all": "keys, values per head",
        "grouped": "grouped queries",
        "window": "a window of 3 tokens",
        "latent": "latent vectors",
        "head": "head {}",
        "shared": "heads {}, {}",
        "every": "all heads",
        "stored": "{} numbers",
    },
    zh={
        "all": "每个头有自己的键和值",
        "grouped": "分组查询",
        "window": "窗口为 3 个词元",
        "latent": "潜在向量",
        "head": "{} 号头",
        "shared": "{}、{} 号头",
        "every": "所有头",
        "stored": "{} 个数",
    },
)
def caches(label):
    """What is stored of six tokens (columns), for four query heads (rows)."""
    fig, ax = narrow_canvas(378)
    tokens, width, height, size = 6, 20, 32, 2  # size: numbers in a key, a value or a c
    single = [label["head"].format(i) for i in range(4)]
    pairs = [label["shared"].format(i, i + 1) for i in (0, 2)]
    for x, y, name, rows, first in (
        (66, 34, "all", single, 0),
        (266, 34, "grouped", pairs, 0),
        (66, 228, "window", single, 3),
        (266, 228, "latent", [label["every"]], 0),
    ):
        write(ax, x + 3 * width, y - 18, label[name])
        vectors = (("c", THIRD),) if name == "latent" else (("k", KEY), ("v", VALUE))
        part = (height - 2) / len(vectors)
        for i, row in enumerate(rows):
            top = y + i * height
            write(ax, x - 6, top + height / 2, row, size=12.5, ha="right")
            for j in range(tokens):
                for n, (symbol, color) in enumerate(vectors):
                    left, upper = x + j * width, top + 1 + n * part
                    shade, tint = (color, 0.4) if j >= first else (MUTED, 0.02)
                    box(ax, left + 1, upper, width - 2, part - 1, shade, tint=tint)
                    if j >= first:
                        write(ax, left + width / 2, upper + part / 2 - 1, symbol, size=12.5)
        count = len(rows) * (tokens - first) * len(vectors) * size
        bottom = y + len(rows) * height + 14
        write(ax, x + 3 * width, bottom, label["stored"].format(count), MUTED, size=12.5)
    return fig


@figure(
    en={
        "norm": "RMSNorm",
        "attention": "attention",
        "swiglu": "SwiGLU",
        "after": "second norm",
        "fewer": "fewer heads: grouped queries",
        "windows": "fewer tokens: windows",
        "latent": "short vectors: MLA",
        "qk": "normalized q, k: QK-norm",
        "experts": "many networks: experts",
    },
    zh={
        "norm": "RMSNorm",
        "attention": "注意力",
        "swiglu": "SwiGLU",
        "after": "第二个归一化",
        "fewer": "减少头数：分组查询",
        "windows": "减少词元数：滑动窗口",
        "latent": "只存短向量：MLA",
        "qk": "归一化 q、k：QK-norm",
        "experts": "许多个网络：混合专家",
    },
)
def layer(label):
    """LLaMA's layer, read from the bottom, with what the newer models change."""
    fig, ax = narrow_canvas(436)
    trunk, left, width, height = 28, 66, 100, 30
    changes = {
        "attention": (("fewer", KEY), ("windows", KEY), ("latent", KEY), ("qk", FIRST)),
        "swiglu": (("experts", SECOND),),
    }
    arrow(ax, (trunk, 428), (trunk, 4), color=INK, width=2.4)
    write(ax, trunk - 14, 420, "x", size=15, style="italic")
    for bottom, sublayer in (412, "attention"), (200, "swiglu"):
        middle = left + width / 2
        tops = [bottom - 40 - 52 * i for i in range(3)]
        arrow(ax, (trunk, bottom), (middle, bottom), (middle, tops[0] + height + 2), color=INK)
        for lower, upper in pairwise(tops):
            arrow(ax, (middle, lower), (middle, upper + height + 2), color=INK)
        joint = tops[-1] - 20
        arrow(ax, (middle, tops[-1]), (middle, joint), (trunk + 12, joint), color=INK)
        plus(ax, trunk, joint)
        for name, top in zip(("norm", sublayer, "after"), tops, strict=True):
            if name == "after":
                frame(ax, left, top, width, height, THIRD, linestyle="--", facecolor=PAPER)
                write(ax, middle, top + height / 2, label[name], THIRD)
            else:
                box(ax, left, top, width, height, MUTED, label[name])
            found = changes.get(name, ())
            start = top + height / 2 - 11 * (len(found) - 1)
            for i, (change, color) in enumerate(found):
                write(ax, left + width + 14, start + 22 * i, label[change], color, ha="left")
    return fig


@figure(
    en={"token": "token", "router": "router", "experts": "experts", "output": "output"},
    zh={"token": "词元", "router": "路由器", "experts": "专家", "output": "输出"},
)
def routing(label):
    found = run_example("examples/modern-decoders/experts_by_hand.py")
    fig, ax = narrow_canvas(270)
    for x, name in ((34, "token"), (122, "router"), (232, "experts"), (355, "output")):
        write(ax, x, 14, label[name], MUTED, size=12.5)
    tops = [34 + 58 * i for i in range(4)]
    for i, formula in enumerate(("2x", "x²", "−x", "x + 1")):
        used = i != 2  # by one of the two tokens
        name, tint = f"E{SUBSCRIPTS[i]}: {formula}", 0.3 if used else 0.04
        box(ax, 196, tops[i], 72, 40, THIRD if used else MUTED, name, tint=tint)
    for token, y, color, shift in (("we", 88, FIRST, -6), ("work", 204, SECOND, 6)):
        x = found[token]
        p, output = found["mixture"](x)
        box(ax, 6, y - 22, 56, 44, color, f"{token}\n({x[0]:.0f}, {x[1]:.0f})")
        arrow(ax, (62, y), (92, y), color=color)
        result = f"({output[0]:.2f}, {output[1]:.2f})"
        box(ax, 312, y - 20, 86, 40, color, result, size=12.5)
        for i, each in enumerate(p.tolist()):
            top, used = y - 48 + 24 * i, i in p.topk(2).indices
            box(ax, 96, top, 52, 22, color if used else MUTED, f"{each:.2f}", tint=0.3 * used)
            if used:
                middle = tops[i] + 20 + shift
                arrow(ax, (148, top + 11), (194, middle), color=color, width=1.6)
                arrow(ax, (268, middle), (310, y), color=color, width=1.6)
    return fig


@figure(
    en={
        "token": "token",
        "latent": "latent vector",
        "position": "position key",
        "heads": "128 heads",
        "cached": "in the cache: 576 numbers",
    },
    zh={
        "token": "词元",
        "latent": "潜在向量",
        "position": "位置键",
        "heads": "128 个头",
        "cached": "放进缓存：576 个数",
    },
)
def latent(label):
    fig, ax = narrow_canvas(206)
    box(ax, 4, 88, 78, 40, INK, label["token"])
    write(ax, 43, 140, "7168", MUTED, size=12.5)
    frame(ax, 114, 24, 124, 172, VALUE, linestyle="--")
    write(ax, 176, 12, label["cached"], size=12.5)
    box(ax, 126, 40, 100, 40, VALUE, label["latent"])
    write(ax, 176, 92, "512", MUTED, size=12.5)
    box(ax, 126, 132, 100, 40, KEY, label["position"])
    write(ax, 176, 184, "64", MUTED, size=12.5)
    arrow(ax, (82, 102), (124, 62))
    arrow(ax, (82, 114), (124, 150))
    for shift in (12, 6, 0):  # some of the heads, one behind the other
        front = shift == 0
        box(ax, 284 + shift, 36 - shift, 70, 36, VALUE, "vᵢ" if front else "")
        box(ax, 284 + shift, 108 - shift, 70, 36, KEY, "kᵢ" if front else "")
    box(ax, 284, 144, 70, 28, KEY, "kʳᵒᵖᵉ")
    arrow(ax, (226, 56), (282, 54))
    arrow(ax, (226, 66), (282, 122))
    arrow(ax, (226, 156), (282, 158))
    write(ax, 319, 188, label["heads"], size=12.5)
    return fig


@figure(
    en={"steps": "step", "load": "load of an expert", "mean": "mean"},
    zh={"steps": "步", "load": "专家的负载", "mean": "平均"},
)
def load(label):
    loads = run_example("examples/modern-decoders/bias.py")["loads"]
    fig, ax = canvas(height=220)
    ax.plot(torch.stack(loads)[::10].numpy(), color=FIRST, linewidth=1)
    ax.set_xticks([0, 10, 20, 30], ["0", "100", "200", "300"])
    ax.axhline(1, color=INK, linestyle="--", linewidth=1, label=label["mean"])
    ax.set_xlabel(label["steps"])
    ax.set_ylabel(label["load"])
    ax.legend()
    return fig


@figure(
    en={
        "post": "post-norm",
        "pre": "pre-norm",
        "parallel": "parallel",
        "after": "norm after f",
        "both": "norm on both sides",
        "streams": "several streams",
        "norm": "norm",
        "f": "f",
        "attention": "A",
        "forward": "F",
        "mix": "mix",
        "read": "read",
        "write": "write",
    },
    zh={
        "post": "后置归一化",
        "pre": "前置归一化",
        "parallel": "并行",
        "after": "f 之后做归一化",
        "both": "前后都归一化",
        "streams": "多条残差流",
        "norm": "归一化",
        "f": "f",
        "attention": "A",
        "forward": "F",
        "mix": "混合",
        "read": "读",
        "write": "写",
    },
)
def wiring(label):
    """A sublayer f with its residual path, in six arrangements, read from the bottom."""
    fig, ax = narrow_canvas(490)
    colors = {"norm": THIRD, "f": SECOND, "attention": SECOND, "forward": SECOND}

    def block(x, y, name, width=58):
        box(ax, x - width / 2, y - 12, width, 24, colors.get(name, VALUE), label[name], size=12.5)

    for i, (kind, models, stops) in enumerate(
        (
            ("post", "Transformer, 2017", ["f"]),
            ("pre", "GPT-2, 2019", ["norm", "f"]),
            ("parallel", "GPT-J, 2021", ["norm"]),
            ("after", "OLMo 2, 2024", ["f", "norm"]),
            ("both", "Gemma 3, 2025", ["norm", "f", "norm"]),
            ("streams", "DeepSeek-V4, 2026", ["read", "norm", "f", "write"]),
        )
    ):
        row, column = divmod(i, 3)
        left, top = 3 + 134 * column, 246 * row
        trunk, branch, bottom = left + 30, left + 96, top + 232
        write(ax, left + 62, top + 12, label[kind], size=13)
        write(ax, left + 62, top + 30, models, MUTED, size=12)
        start, joint = bottom - 18, top + 64
        several = kind == "streams"
        if kind == "post":
            joint = top + 104
        cut = {"post": joint - 34, "streams": top + 140}.get(kind, 0)  # a box on the path
        pieces = [(bottom, cut + 12), (cut - 12, top + 44)] if cut else [(bottom, top + 44)]
        for shift in (-8, 0, 8) if several else (0,):
            for low, high in pieces:
                ends = (trunk + shift, low), (trunk + shift, high)
                arrow(ax, *ends, color=FIRST, width=1.6 if several else 2.4)
        heights = [start - 20 - 36 * n for n in range(len(stops))]
        if several:
            heights = [start - 8 - 36 * n for n in range(len(stops))]
            line(ax, (trunk - 8, heights[0]), (branch - 29, heights[0]), color=INK)
        else:
            line(ax, (trunk, start), (branch, start), color=INK)
            arrow(ax, (branch, start), (branch, heights[0] + 12), color=INK)
        for lower, upper in pairwise(heights):
            arrow(ax, (branch, lower - 12), (branch, upper + 12), color=INK)
        for stop, y in zip(stops, heights, strict=True):
            block(branch, y, stop)
        if several:
            arrow(ax, (branch - 29, heights[-1]), (trunk + 9, heights[-1]), color=INK)
            block(trunk, cut, "mix", 40)
            continue
        if kind == "parallel":
            y = heights[0] - 48
            for x, name in ((branch - 18, "attention"), (branch + 18, "forward")):
                arrow(ax, (branch, heights[0] - 12), (x, y + 12), color=INK)
                block(x, y, name, 28)
                line(ax, (x, y - 12), (x, joint), color=INK)
            line(ax, (branch + 18, joint), (branch - 18, joint), color=INK)
            arrow(ax, (branch - 18, joint), (trunk + 11, joint), color=INK)
        else:
            path = (branch, heights[-1] - 12), (branch, joint), (trunk + 11, joint)
            arrow(ax, *path, color=INK)
        plus(ax, trunk, joint)
        if kind == "post":
            block(trunk, cut, "norm")
    return fig
