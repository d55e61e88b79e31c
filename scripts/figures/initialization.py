"""Figures of the page on initialization, gradients and warm-up."""

import functools
import math

import numpy as np
import torch
from torch import nn

from figures.diagram import write
from figures.examples import run_example
from figures.style import FIRST, MUTED, SECOND, THIRD, canvas, figure, powers_of_ten

INITIALIZATIONS = ("Xavier-uniform", "nn.Linear", "N(0, 0.02²)")


@functools.cache  # for the figure in the other language
def gradient_norms(norm_first):
    example = run_example("examples/initialization/gradients_by_layer.py")
    return example["gradient_norms"](norm_first)


@figure(
    en={"x": "square linear layers, one behind the other", "y": "variance"},
    zh={"x": "首尾相接的方阵线性层（个）", "y": "方差"},
)
def keep_variance(label):
    initializers = (
        nn.init.xavier_uniform_,
        lambda w: nn.init.kaiming_uniform_(w, a=5**0.5),
        lambda w: nn.init.normal_(w, std=0.02),
    )
    fig, ax = canvas(height=230)
    torch.manual_seed(0)
    for name, initialize, color in zip(
        INITIALIZATIONS, initializers, (FIRST, SECOND, THIRD), strict=True
    ):
        x = torch.randn(1000, 512)
        variances = [x.var().item()]
        for _ in range(6):
            x = x @ initialize(torch.empty(512, 512)).T
            variances.append(x.var().item())
        ax.plot(variances, color=color, marker="o", markersize=4)
        is_above = name != INITIALIZATIONS[-1]
        alignment = {"va": "bottom" if is_above else "top", "ha": "left" if is_above else "right"}
        at = (4.1, variances[4] * 1.5) if is_above else (3.9, variances[4] * 0.9)
        write(ax, *at, name, color, **alignment)
    ax.set_yscale("log")
    ax.set_yticks([1, 1e-2, 1e-4])
    powers_of_ten(ax.yaxis)
    ax.set_ylim(3e-5, 8)
    ax.set_xlabel(label["x"])
    ax.set_ylabel(label["y"])
    return fig


@figure(
    en={
        "x": "layer",
        "y": "gradient norm",
        "encoder": "encoder",
        "decoder": "decoder",
        "post": "post-norm",
        "pre": "pre-norm",
    },
    zh={
        "x": "第几层",
        "y": "梯度的范数",
        "encoder": "编码器",
        "decoder": "解码器",
        "post": "后置归一化",
        "pre": "前置归一化",
    },
)
def gradients_by_layer(label):
    fig, axes = canvas(height=280, columns=2, sharey=True)
    for name, norm_first, color, style in (
        ("post", False, SECOND, "s-"),
        ("pre", True, FIRST, "o-"),
    ):
        for ax, row in zip(axes, gradient_norms(norm_first), strict=True):
            ax.semilogy(range(1, 13), row, style, color=color, markersize=4, label=label[name])
    for ax, name in zip(axes, ("encoder", "decoder"), strict=True):
        ax.set_title(label[name])
        ax.set_xticks([1, 4, 8, 12])
        ax.set_ylim(5e-3, 1)
        powers_of_ten(ax.yaxis)
        ax.set_xlabel(label["x"])
        ax.grid(axis="y")
    axes[0].set_ylabel(label["y"])
    axes[1].legend(loc="lower right", frameon=True)
    return fig


@figure(
    en={
        "x": "value of a feature",
        "before": "before",
        "after": "after",
        "bell": "normal distribution",
    },
    zh={
        "x": "特征的取值",
        "before": "归一化之前",
        "after": "归一化之后",
        "bell": "正态分布",
    },
)
def skew(label):
    fig, ax = canvas(height=260)
    x = torch.empty(1000, 512).exponential_(generator=torch.Generator().manual_seed(0))
    y = torch.nn.functional.layer_norm(x, (512,))
    bins = np.linspace(-3, 7, 101)
    for values, color, name in (x, SECOND, "before"), (y, FIRST, "after"):
        height, _ = np.histogram(values.numpy().ravel(), bins, density=True)
        ax.stairs(height, bins, color=color, linewidth=1.6, label=label[name])
    line = np.linspace(-3, 7, 200)
    bell = np.exp(-(line**2) / 2) / math.sqrt(2 * math.pi)
    ax.plot(line, bell, color=MUTED, linestyle=(0, (4, 2)), linewidth=1.4, label=label["bell"])
    ax.set_xlim(-3, 5)
    ax.set_ylim(0, 1.05)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(label["x"])
    ax.legend(loc="upper right")
    return fig
