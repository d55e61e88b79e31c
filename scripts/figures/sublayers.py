"""Figures of the chapter on sublayers."""

import contextlib
import io

import numpy as np

from figures.diagram import arrow, blank_canvas, box, line, write
from figures.style import FIRST, INK, MUTED, SECOND, THIRD, canvas, figure, powers_of_ten
from transformer import DecoderLayer, EncoderLayer, TransformerConfig


@figure(
    en={
        "tokens": "why do we work ?",
        "attention": "attention: each position reads all positions",
        "network": "FFN",
        "same": "feed-forward: each position by itself, with the same weights",
    },
    zh={
        "tokens": "why do we work ?",
        "attention": "注意力：每个位置读取所有位置",
        "network": "FFN",
        "same": "前馈网络：逐个位置计算，用的是同一组权重",
    },
)
def position_wise(label):
    fig, ax = blank_canvas(290)
    xs = [60 + 100 * i for i in range(5)]
    write(ax, 260, 14, label["same"], FIRST)
    write(ax, 260, 276, label["attention"], SECOND)
    for x, word in zip(xs, label["tokens"].split(), strict=True):
        write(ax, x, 248, word)
        for other in xs:
            line(ax, (x, 230), (other, 140), color=SECOND, width=1, alpha=0.65)
        arrow(ax, (x, 136), (x, 107), color=FIRST)
        box(ax, x - 28, 75, 56, 32, FIRST, label["network"])
        arrow(ax, (x, 75), (x, 42), color=FIRST)
    for y in 230, 140, 38:
        ax.plot(xs, [y] * 5, "o", color=INK, markersize=5, clip_on=False)
    return fig


@figure(
    en={
        "encoder": "encoder layer",
        "decoder": "decoder layer",
        "attention": "attention",
        "forward": "feed-forward",
        "x": "parameters, in millions",
    },
    zh={
        "encoder": "编码器的一层",
        "decoder": "解码器的一层",
        "attention": "注意力",
        "forward": "前馈网络",
        "x": "参数（百万个）",
    },
)
def shares(label):
    fig, ax = canvas(height=190)
    config = TransformerConfig(src_vocab_size=9, tgt_vocab_size=12)
    for y, layer in (1, EncoderLayer(config)), (0, DecoderLayer(config)):
        millions = {
            name: sum(p.numel() for p in part.parameters()) / 1e6
            for name, part in layer.named_children()
        }
        forward = millions.pop("feed_forward")
        norms = sum(size for name, size in millions.items() if name.startswith("norm"))
        attention = sum(millions.values()) - norms
        start = 0.0
        for size, color in (attention, SECOND), (forward, FIRST), (norms, THIRD):
            ax.barh(y, size, left=start, height=0.52, color=color, alpha=0.85)
            start += size
        for x, name in (attention / 2, "attention"), (attention + forward / 2, "forward"):
            write(ax, x, y + 0.41, label[name])
    ax.set_yticks([1, 0], [label["encoder"], label["decoder"]])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(-0.4, 1.6)
    ax.set_xlabel(label["x"])
    return fig


@figure(
    en={
        "x": "sublayers below the output",
        "y": "gradient norm",
        "plain": "f(x)",
        "sum": "x + f(x)",
    },
    zh={
        "x": "从输出往下数的子层数",
        "y": "梯度的范数",
        "plain": "f(x)",
        "sum": "x + f(x)",
    },
)
def gradient_road(label):
    with contextlib.redirect_stdout(io.StringIO()):  # the example prints when imported
        from examples.sublayers.gradient_road import gradient_norms
    fig, ax = canvas(height=260)
    for add, color, guess, name in (
        (True, FIRST, 1.32, "sum"),
        (False, SECOND, 0.32, "plain"),
    ):
        depth = np.arange(25)
        ax.semilogy(depth, guess ** (depth / 2), color=MUTED, linewidth=1.2)
        ax.semilogy(depth, gradient_norms(add), "o", color=color, markersize=4.5)
        ax.text(16, guess**8 * (6 if add else 12), label[name], color=color, ha="center")
    ax.set_xlim(-0.5, 24.5)
    ax.set_ylim(3e-7, 3e3)
    powers_of_ten(ax.yaxis)
    ax.set_xlabel(label["x"])
    ax.set_ylabel(label["y"])
    ax.grid(axis="y")
    return fig
