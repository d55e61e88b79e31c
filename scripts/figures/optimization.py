"""Figures of the chapter on optimization."""

import torch

from figures.style import FIRST, SECOND, canvas, figure


@figure(
    en={
        "hard": "without smoothing",
        "smooth": "smoothing, ε = 0.1",
        "x": "probability of the correct token",
        "y": "loss",
    },
    zh={
        "hard": "不平滑",
        "smooth": "平滑，ε = 0.1",
        "x": "正确词元的概率",
        "y": "损失",
    },
)
def smoothed(label):
    fig, ax = canvas(250)
    vocab_size = 314
    p = torch.linspace(0.6, 0.9999, 400, dtype=torch.float64)
    others = (1 - p) / (vocab_size - 1)
    for smoothing, color, name, at in (
        (0.0, SECOND, "hard", (0.62, 0.14)),
        (0.1, FIRST, "smooth", (0.72, 1.24)),
    ):
        q = smoothing / vocab_size
        loss = -(1 - smoothing + q) * p.log() - (vocab_size - 1) * q * others.log()
        ax.plot(p, loss, color=color)
        ax.text(*at, label[name], color=color, ha="left")
    best_p = 0.9 + 0.1 / vocab_size
    lowest_loss = -(
        best_p * torch.tensor(best_p).log() + (1 - best_p) * torch.tensor(0.1 / vocab_size).log()
    )
    ax.plot([best_p], [lowest_loss], marker="o", color=FIRST, markersize=6)
    ax.text(best_p, lowest_loss - 0.14, f"{lowest_loss:.3f}", color=FIRST, ha="center")
    ax.set_xlabel(label["x"])
    ax.set_ylabel(label["y"])
    ax.set_ylim(0, 1.6)
    return fig
