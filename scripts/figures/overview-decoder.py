"""Figures of the overview: the decoder, training, and recurrent networks."""

import json
from functools import cache
from pathlib import Path

import torch

import transformer
import translator
from bookbuild.generated.cross_attention import TRANSLATOR_WEIGHTS, trace_translation
from figures.diagram import (
    CHINESE,
    ENGLISH,
    arrow,
    box,
    fill_rectangles,
    frame,
    label_columns,
    line,
    signed_cells,
    write,
)
from figures.overview import WIDTH, load, narrow_canvas, word_row
from figures.style import FIRST, MUTED, SECOND, figure
from trainer import Settings, label_smoothed_cross_entropy

RESULTS = Path(transformer.__file__).with_name("results")
ANSWERS = [*CHINESE, "<eos>"]


def next_token_probabilities(model) -> torch.Tensor:
    """After each beginning of the translation, the probability of each next token."""
    trained = load()
    src = torch.tensor([trained.source.encode(ENGLISH)])
    tgt = torch.tensor([[translator.BOS, *trained.target.encode(CHINESE)]])
    with torch.no_grad():
        return model(src, tgt)[0].softmax(dim=-1)


def right_token_probabilities(model) -> list[float]:
    """As above, of the right token only."""
    ids = [*load().target.encode(CHINESE), translator.EOS]
    return next_token_probabilities(model)[range(len(ids)), ids].tolist()


@figure(
    en={"written": "written so far", "next": "next", "looks": "attends to"},
    zh={"written": "已经写出的", "next": "下一个", "looks": "关注哪个词"},
)
def writing(label):
    tokens, weights = trace_translation(ENGLISH)
    probabilities = right_token_probabilities(load().model)
    fig, ax = narrow_canvas(72 + 26 * len(tokens))
    left, top, size = 268, 66, 26
    write(ax, 22, 52, label["written"], MUTED, ha="left", size=12.5)
    write(ax, 190, 52, label["next"], MUTED, size=12.5)
    write(ax, left + 2.5 * size, 12, label["looks"], MUTED, size=12.5)
    signed_cells(ax, left, top, weights[-1].mean(dim=0).numpy(), size, largest=1)
    label_columns(ax, left, top, ENGLISH, size)
    for i, (token, probability) in enumerate(zip(tokens, probabilities, strict=True)):
        y = top + (i + 0.5) * size
        write(ax, 8, y, str(i + 1), MUTED, size=12.5)
        write(ax, 22, y, "".join(CHINESE[:i]) or "<bos>", ha="left", size=15 if i else 13)
        write(ax, 190, y, token, FIRST, size=17 if len(token) == 1 else 13)
        write(ax, left - 8, y, f"{probability:.0%}", ha="right", size=12.5)
    return fig


@cache
def untrained_model():
    """The translator's model as it was before training."""
    about, _ = translator.read_file(TRANSLATOR_WEIGHTS)
    torch.manual_seed(about["seed"])
    config = transformer.TransformerConfig(**about["config"])
    return transformer.Transformer(config).eval()


def untrained_loss() -> float:
    """The loss of the untrained model for the running example, as training computes it."""
    probabilities = next_token_probabilities(untrained_model())
    ids = torch.tensor([*load().target.encode(CHINESE), translator.EOS])
    smoothing = Settings.smoothing
    loss = label_smoothed_cross_entropy(probabilities.log(), ids, smoothing, translator.PAD)
    return loss.item()


@figure(
    en={"before": "before", "after": "after", "loss": "loss", "step": "training step"},
    zh={"before": "训练前", "after": "训练后", "loss": "损失", "step": "训练步数"},
)
def training(label):
    runs = json.loads((RESULTS / "training.json").read_text(encoding="utf-8"))["runs"]
    curve = next(run["curve"] for run in runs if run["task"] == "translator")
    steps, losses = [0], [untrained_loss()]
    steps += [point["step"] for point in curve]
    losses += [point["loss"] for point in curve]
    fig, ax = narrow_canvas(250)
    for x, name, model in ((44, "before", untrained_model()), (324, "after", load().model)):
        write(ax, x, 14, label[name])
        for i, (token, p) in enumerate(zip(ANSWERS, right_token_probabilities(model), strict=True)):
            y = 38 + 24 * i
            write(ax, x - 8, y, token, ha="right", size=15 if len(token) == 1 else 12)
            fill_rectangles(ax, [(x, y - 8, max(1, 38 * p), 16)], FIRST, 0.6)
            frame(ax, x, y - 8, 38, 16, MUTED, 0.6)  # 100%
            write(ax, x + 42, y, f"{p:.1%}" if p < 0.1 else f"{p:.0%}", ha="left", size=12.5)
    plot = fig.add_axes((136 / WIDTH, 48 / 250, 128 / WIDTH, 172 / 250))
    plot.plot(steps, losses, color=SECOND)
    plot.set_ylim(0)
    plot.set_xlim(0)
    plot.set_xticks([0, steps[-1]], ["0", f"{steps[-1]}"])
    plot.set_yticks([0, 2, 4, 6], ["0", "2", "4", "6"])
    plot.set_xlabel(label["step"])
    write(ax, 200, 14, label["loss"])
    return fig


@figure(
    en={
        "recurrent": "recurrent network",
        "attention": "self-attention",
        "step": "step {}",
    },
    zh={"recurrent": "循环神经网络", "attention": "自注意力", "step": "第 {} 步"},
)
def paths(label):
    fig, ax = narrow_canvas(318)
    xs = [44 + 78 * i for i in range(5)]
    for top, name in ((14, "recurrent"), (176, "attention")):
        recurrent = name == "recurrent"
        write(ax, 4, top, label[name], ha="left", weight="bold")
        y, words = top + 40, top + 128  # of the boxes and the words below them
        word_row(ax, words, xs=xs, size=14)
        for i, x in enumerate(xs):
            color = FIRST if recurrent or i == 4 else SECOND
            if recurrent:
                arrow(ax, (x, words - 12), (x, y + 32), color=MUTED if i else FIRST)
                if i:
                    arrow(ax, (xs[i - 1] + 19, y + 16), (x - 19, y + 16), color=FIRST, width=2.2)
            else:
                for start in xs:
                    chosen = start == xs[0] and i == 4
                    ends = (start, words - 12), (x, y + 32)
                    line(ax, *ends, color=FIRST if chosen else MUTED, width=2.2 if chosen else 0.5)
            box(ax, x - 18, y, 36, 32, color)
            step = label["step"].format(i + 1 if recurrent else 1)
            write(ax, x, y - 14, step, MUTED, size=12.5)
    return fig
