"""Figures of the chapters on training and on what was learned."""

import json
import math
from pathlib import Path

import torch

import corpus
import train
import trainer
import transformer
import translator
from bookbuild.generated.cross_attention import trace_translation
from figures.diagram import ENGLISH, arrow, box, write
from figures.overview import narrow_canvas
from figures.style import FIRST, MUTED, SECOND, THIRD, canvas, figure

SNIPPETS = Path(transformer.__file__).parent


@figure(
    en={
        "batch": "batch",
        "model": "model",
        "inputs": "inputs",
        "loss": "loss",
        "optimizer": "optimizer",
        "logits": "logits",
        "targets": "targets",
        "gradients": "gradients",
        "weights": "new weights",
    },
    zh={
        "batch": "一批",
        "model": "模型",
        "inputs": "输入（inputs）",
        "loss": "损失",
        "optimizer": "优化器",
        "logits": "logits",
        "targets": "答案（targets）",
        "gradients": "梯度",
        "weights": "新的权重",
    },
)
def one_step(label):
    """One training step: forward along the top, back along the bottom."""
    fig, ax = narrow_canvas(226)
    box(ax, 4, 62, 66, 48, MUTED, label["batch"], size=13)
    box(ax, 176, 62, 74, 48, FIRST, label["model"], size=13)
    box(ax, 330, 62, 66, 48, SECOND, label["loss"], size=13)
    box(ax, 160, 170, 106, 48, THIRD, label["optimizer"], size=13)
    arrow(ax, (70, 86), (174, 86))
    write(ax, 122, 72, label["inputs"], MUTED, size=13)
    arrow(ax, (250, 86), (328, 86))
    write(ax, 289, 72, label["logits"], MUTED, size=13)
    arrow(ax, (37, 62), (37, 30), (363, 30), (363, 60))
    write(ax, 200, 16, label["targets"], MUTED, size=13)
    arrow(ax, (363, 110), (363, 194), (268, 194), color=SECOND, width=2)
    write(ax, 396, 212, label["gradients"], SECOND, size=13, ha="right")
    arrow(ax, (213, 170), (213, 112), color=THIRD, width=2)
    write(ax, 204, 140, label["weights"], THIRD, ha="right", size=13)
    return fig


@figure(
    en={"x": "probability p of the correct token", "y": "−ln p"},
    zh={"x": "正确词元的概率 p", "y": "−ln p"},
)
def minus_log(label):
    """The cost of a token, with the three tokens of the example."""
    fig, ax = canvas(220)
    p = torch.linspace(0.012, 1, 300, dtype=torch.float64)
    ax.plot(p, -p.log(), color=FIRST)
    for at in 0.25, 0.5, 0.8:
        cost = -math.log(at)
        ax.plot([at, at], [0, cost], color=MUTED, lw=1, ls=":")
        ax.plot([at], [cost], marker="o", color=FIRST, markersize=6)
        ax.text(at + 0.02, cost + 0.12, f"{cost:.3f}", ha="left")
    ax.set_xticks([0, 0.25, 0.5, 0.8, 1], ["0", "0.25", "0.50", "0.80", "1"])
    ax.set_yticks([0, 1, 2, 3, 4])
    ax.set_xlim(0, 1.02)
    ax.set_ylim(0, 4.5)
    ax.set_xlabel(label["x"])
    ax.set_ylabel(label["y"])
    return fig


@figure(
    en={
        "x": "step",
        "y": "learning rate",
        "base": "Transformer base",
        "here": "our numerals",
        "paper": "the paper's",
        "ours": "ours",
    },
    zh={
        "x": "步",
        "y": "学习率",
        "base": "Transformer base",
        "here": "我们的数词任务",
        "paper": "论文的",
        "ours": "我们的",
    },
)
def schedules(label):
    fig, (left, right) = canvas(230, columns=2)
    steps = range(10, 30_000, 10)
    left.plot(steps, [trainer.noam_learning_rate(s, 512, 4000) for s in steps], color=SECOND)
    left.set_title(label["base"])
    left.set_xticks([4000, 25000])
    left.set_yticks([0, 0.0004, 0.0008])
    task = train.TASKS["numerals"]
    settings, d_model = task.settings, task.sizes["d_model"]
    steps = range(1, settings.steps + 1)
    papers = [trainer.noam_learning_rate(s, d_model, settings.warmup_steps) for s in steps]
    right.plot(steps, papers, color=SECOND)
    right.plot(steps, [trainer.learning_rate(s, settings, d_model) for s in steps], color=FIRST)
    right.set_title(label["here"])
    right.set_xticks([100, 1500])
    right.set_yticks([0, 0.004, 0.008, 0.012])
    right.text(330, 0.0085, label["paper"], color=SECOND)
    right.text(180, 0.0006, label["ours"], color=FIRST)
    left.set_ylabel(label["y"])
    for ax in left, right:
        ax.set_xlabel(label["x"])
        ax.set_ylim(0)
    return fig


CURVE = {
    "en": {
        "x": "step",
        "loss": "loss",
        "match": "exact match",
        "guessing": "guessing level",
        "lowest": "lowest possible",
    },
    "zh": {
        "x": "步",
        "loss": "损失",
        "match": "完全匹配率",
        "guessing": "随机猜测的基线",
        "lowest": "最小值",
    },
}


@figure(**CURVE)
def curve(label):
    about, _ = translator.read_file(SNIPPETS / "translator.safetensors")
    return draw_curves(label, "translator", len(about["target"]))


@figure(**CURVE)
def numerals_curve(label):
    characters = {c for pair in corpus.numerals("test") for c in pair.target}
    return draw_curves(label, "numerals", len(corpus.Vocabulary(characters)))


def draw_curves(label, task: str, tokens: int):
    """The loss and the exact match of all runs of a task."""
    runs = json.loads((SNIPPETS / "results" / "training.json").read_text(encoding="utf-8"))["runs"]
    rest = 0.1 / tokens  # of the smoothed target, for each wrong token
    right = 0.9 + rest
    floor = -right * math.log(right) - (tokens - 1) * rest * math.log(rest)
    fig, axes = canvas(220, columns=2)
    for run in (run for run in runs if run["task"] == task):
        steps = [point["step"] for point in run["curve"]]
        color = (FIRST, SECOND, THIRD)[run["seed"]]
        strength = {"alpha": 1, "zorder": 3} if run["seed"] == 0 else {"alpha": 0.45}
        losses = [point["loss"] for point in run["curve"]]
        matches = [point["match"] for point in run["curve"]]
        for ax, values in zip(axes, (losses, matches), strict=True):
            ax.plot(steps, values, color=color, lw=1.4, **strength)
    last = axes[0].get_xlim()[1]
    guess = math.log(tokens)  # each token is equally likely
    top = 6.8 if guess > 5 else 3.4
    for level, name, above in (guess, "guessing", 0.035), (floor, "lowest", -0.09):
        axes[0].axhline(level, ls="--", color=MUTED, lw=1.4)
        axes[0].text(last, level + above * top, label[name], color=MUTED, ha="right")
    axes[0].set_ylim(0, top)
    axes[1].set_ylim(0, 1.04)
    axes[1].set_yticks([0, 0.5, 1], ["0%", "50%", "100%"])
    for ax, name in zip(axes, ("loss", "match"), strict=True):
        ax.set_title(label[name])
        ax.set_xlabel(label["x"])
    return fig


def draw_heat_map(ax, weights, source, target, with_labels: bool = True) -> None:
    """The weights of one head, a row per target token and a column per source token."""
    image = torch.zeros(*weights.shape, 4)
    image[..., :3] = torch.tensor((0.91, 0.44, 0.04))
    image[..., 3] = 0.55 * weights  # background of numbers
    ax.imshow(image.numpy(), interpolation="none", aspect="auto")
    ax.set_xticks(range(len(source)), source, rotation=90)
    ax.set_yticks(range(len(target)), target if with_labels else [""] * len(target))
    for i, row in enumerate(weights.tolist()):
        for j, weight in enumerate(row):
            if weight >= 0.05:
                shown = f"{weight:.2f}".removeprefix("0")
                ax.text(j, i, shown, ha="center", va="center_baseline", size=12)
    ax.tick_params(length=0, labelsize=13, pad=5)
    for side in ("top", "right"):
        ax.spines[side].set_visible(True)


@figure(en={"head": "head {}"}, zh={"head": "{} 号头"})
def crossing_sentence(label):
    """All heads of the last cross-attention in the translation of a sentence."""
    tokens, weights = trace_translation(ENGLISH)
    fig, axes = canvas(height=520, rows=2, columns=2)
    for i, (ax, head) in enumerate(zip(axes.flat, weights[-1], strict=True)):
        draw_heat_map(ax, head, ENGLISH, tokens, with_labels=i % 2 == 0)
        ax.set_title(label["head"].format(i), fontsize=13)
    return fig
