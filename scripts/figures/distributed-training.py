"""Figures of the page on distributed training."""

from figures.diagram import arrow, blank_canvas, box, write
from figures.style import FIRST, MUTED, SECOND, THIRD, figure


@figure(
    en={
        "batch": "one batch",
        "process": "process {}",
        "loss": "loss, times 2 × {} / {}",
        "mean": "DDP: mean of the gradients",
        "same": "the same step in both",
        "tokens": "{} tokens",
    },
    zh={
        "batch": "一批",
        "process": "进程 {}",
        "loss": "损失 × 2 × {} / {}",
        "mean": "DDP：梯度取平均",
        "same": "两个进程走同样的一步",
        "tokens": "{} 个词元",
    },
)
def two_processes(label):
    fig, ax = blank_canvas(306)
    lengths = (3, 9, 2, 8, 3, 11, 4, 10)
    for i, length in enumerate(lengths):
        color = (FIRST, SECOND)[i % 2]
        box(ax, 176, 8 + 13 * i, 15 * length, 10, color, tint=0.5)
    write(ax, 166, 58, label["batch"], ha="right")
    total = sum(lengths)
    for rank, color in enumerate((FIRST, SECOND)):
        x = 24 + 256 * rank
        tokens = sum(lengths[rank::2])
        box(ax, x, 146, 216, 76, color)
        write(ax, x + 108, 162, label["process"].format(rank))
        write(ax, x + 108, 184, label["tokens"].format(tokens), MUTED)
        write(ax, x + 108, 206, label["loss"].format(tokens, total))
        arrow(ax, (240 + 40 * rank, 116), (x + 108 + (30, -30)[rank], 144), color=color)
        arrow(ax, (x + 108, 222), (240 + 40 * rank, 252), color=color)
    box(ax, 130, 252, 260, 28, THIRD, label["mean"])
    write(ax, 260, 294, label["same"], MUTED)
    return fig
