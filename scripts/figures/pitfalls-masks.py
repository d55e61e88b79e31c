"""Figures of the chapter on pitfalls: masks, and what goes wrong in training."""

import torch
import torch.nn.functional as F

from figures.diagram import blank_canvas, fill_cells, frame, grid, write
from figures.style import FIRST, INK, MUTED, PAPER, SECOND, canvas, figure
from trainer import noam_learning_rate


@figure(
    en={
        "row": "the keys\nof one query",
        "column": "the queries\nof one key",
        "pair": "the heads\nof one pair",
    },
    zh={
        "row": "一个查询的\n各个键",
        "column": "一个键的\n各个查询",
        "pair": "一对查询和键的\n各个头",
    },
)
def axes(label):
    size, n, step, top = 26, 4, 20, 96
    fig, ax = blank_canvas(290)
    none = torch.zeros(n, n, dtype=torch.bool)
    row, column, pair = none.clone(), none.clone(), none.clone()
    row[1], column[:, n - 1], pair[0, n - 1] = True, True, True
    for x, shape, name, layers, chosen in (
        (18, "(n, m)", "row", 1, row),
        (170, "(batch, n, m)", "column", 2, column),
        (336, "(batch, head, n, m)", "pair", 4, pair),
    ):
        for layer in reversed(range(layers)):  # the front layer last
            left, upper = x + layer * step, top - layer * step
            frame(ax, left, upper, n * size, n * size, MUTED, 0.8, facecolor=PAPER)
            if name == "pair" or layer == 0:
                fill_cells(ax, left, upper, chosen, size, FIRST, 0.55)
            grid(ax, left, upper, n, n, size)
        write(ax, x + n * size / 2, top + n * size + 22, shape)
        write(ax, x + n * size / 2, top + n * size + 60, label[name])
    return fig


@figure(
    en={
        "x": "step",
        "y": "learning rate",
        "wrong": "stepped by the epoch",
        "right": "stepped by the batch",
    },
    zh={"x": "步", "y": "学习率", "wrong": "每轮走一格", "right": "每批走一格"},
)
def rates(label):
    fig, ax = canvas(height=230)
    steps = range(1, 401)
    right = [noam_learning_rate(step, 512, 100) for step in steps]
    wrong = [noam_learning_rate((step - 1) // 100 + 1, 512, 100) for step in steps]
    ax.plot(steps, right, color=SECOND)
    ax.plot(steps, wrong, color=FIRST)
    ax.text(190, right[189] + 0.0003, label["right"], color=SECOND)
    ax.text(190, wrong[189] + 0.0002, label["wrong"], color=FIRST)
    ax.set_xlabel(label["x"])
    ax.set_ylabel(label["y"])
    ax.set_ylim(0, 0.0048)
    ax.set_yticks([0, 0.002, 0.004])
    return fig


@figure(
    en={
        "x": "lead of the right logit over the other",
        "y": "size of the gradient",
        "right": "from the logits",
        "wrong": "behind a softmax",
    },
    zh={
        "x": "正确的 logit 领先另一个多少",
        "y": "梯度的大小",
        "right": "直接用 logits",
        "wrong": "先过一遍 softmax",
    },
)
def gradients(label):
    lead = torch.linspace(-8, 8, 161, requires_grad=True)
    logits = torch.stack([lead, torch.zeros(161)], dim=1)
    target = torch.zeros(161, dtype=torch.int64)
    fig, ax = canvas(height=230)
    for scores, color in ((logits, SECOND), (logits.softmax(dim=1), FIRST)):
        loss = F.cross_entropy(scores, target, reduction="sum")
        (slope,) = torch.autograd.grad(loss, lead, retain_graph=True)
        ax.plot(lead.detach(), -slope, color=color)
    ax.text(-7.8, 0.84, label["right"], color=SECOND)
    ax.text(1.9, 0.24, label["wrong"], color=FIRST)
    ax.axvline(0, color=MUTED, linewidth=0.5)
    ax.set_xlabel(label["x"], color=INK)
    ax.set_ylabel(label["y"])
    ax.set_ylim(0, 1.05)
    return fig
