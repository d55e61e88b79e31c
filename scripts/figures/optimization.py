"""Figures of the chapter on optimization."""

import itertools
import random

import torch

import batching
import corpus
import train
import trainer
from figures.diagram import fill_rectangles, write
from figures.overview import narrow_canvas
from figures.style import FIRST, MUTED, SECOND, canvas, figure


@figure(
    en={"drawn": "random", "like": "similar length", "padding": "gray: padding"},
    zh={"drawn": "随机取的", "like": "长度相近的", "padding": "灰色：填充"},
)
def batches(label):
    """The targets of two batches of 32 sentences, padding as an outline."""
    pairs = corpus.translator("train")
    # Only the lengths count, and encoding all pairs would take seconds.
    sizes = [(len(pair.source), len(pair.target) + 2) for pair in pairs]  # with <bos> and <eos>
    examples = [(torch.empty(source), torch.empty(target)) for source, target in sizes]
    random_batch = random.Random(0).sample(examples, 32)
    similar_batch = next(itertools.islice(batching.batches(examples, 32, seed=0), 4, None))
    fig, ax = narrow_canvas(250)
    for left, batch, name in ((4, random_batch, "drawn"), (214, similar_batch, "like")):
        lengths = [len(tgt) for _, tgt in batch]
        cell_width, row_height = 182 / 26, 6.4
        rows = [
            (left, 30 + i * row_height, n * cell_width, row_height - 1)
            for i, n in enumerate(lengths)
        ]
        fill_rectangles(ax, rows, FIRST, 0.55)
        full = max(lengths) * cell_width
        padding = [(x + width, y, full - width, height) for x, y, width, height in rows]
        fill_rectangles(ax, padding, MUTED, 0.2)
        write(ax, left, 14, label[name], ha="left", size=13)
        write(ax, left + 182, 14, label["padding"], MUTED, ha="right", size=13)
    return fig


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
    ax.text(best_p, lowest_loss - 0.14, f"{best_p:.2f}", color=FIRST, ha="center")
    ax.set_xlabel(label["x"])
    ax.set_ylabel(label["y"])
    ax.set_ylim(0, 1.6)
    return fig


@figure(
    en={"x": "step", "y": "learning rate", "up": "warm-up", "down": "decay"},
    zh={"x": "步", "y": "学习率", "up": "预热", "down": "衰减"},
)
def schedule(label):
    """The learning rate of the translator at each of its steps."""
    task = train.TASKS["translator"]
    settings, d_model = task.settings, task.sizes["d_model"]
    steps = range(1, settings.steps + 1)
    rates = [trainer.learning_rate(step, settings, d_model) for step in steps]
    fig, ax = canvas(200)
    peak = settings.warmup_steps
    ax.plot(steps[:peak], rates[:peak], color=SECOND)
    ax.plot(steps[peak - 1 :], rates[peak - 1 :], color=FIRST)
    ax.text(170, 0.0006, label["up"], color=SECOND, ha="left")
    ax.text(2700, 0.0019, label["down"], color=FIRST, ha="left")
    ax.set_xticks([peak, 1000, 2000, 3000, 4000, 5000])
    ax.set_yticks([0, 0.001, 0.002, 0.003])
    ax.set_xlim(-60, 5060)
    ax.set_ylim(0, 0.0032)
    ax.set_xlabel(label["x"])
    ax.set_ylabel(label["y"])
    return fig
