"""Figures of the chapter on variants: positions and windows."""

import json
import math
import statistics
from pathlib import Path

import train
from figures.diagram import blank_canvas, box, fill_cells, grid, line, signed_cells, write
from figures.overview import narrow_canvas
from figures.style import FIRST, INK, KEY, MUTED, QUERY, SECOND, THIRD, canvas, figure
from transformer import causal_mask
from variants.alibi import alibi_bias, alibi_slopes
from variants.window import sliding_window_mask

RESULTS = Path(train.__file__).with_name("results")


@figure(
    en={
        "sentences": "four sentences",
        "row": "row of the table",
        "seen": "learns from",
        "of": "{}",
    },
    zh={"sentences": "四个句子", "row": "表的第几行", "seen": "几句教过它", "of": "{} 句"},
)
def rows(label):
    lengths, left, width = (2, 4, 4, 3), 132, 44
    fig, ax = narrow_canvas(212)
    for i, length in enumerate(lengths):
        box(ax, left, 14 + 26 * i, width * length - 4, 18, SECOND)
    write(ax, left - 14, 62, label["sentences"], ha="right")
    write(ax, left - 14, 144, label["row"], ha="right")
    write(ax, left - 14, 190, label["seen"], ha="right")
    for position in range(6):
        count = sum(length > position for length in lengths)
        x = left + width * position
        box(ax, x, 126, width - 4, 36, FIRST, str(position), tint=count / 6, size=15)
        write(ax, x + width / 2 - 2, 190, label["of"].format(count))
    return fig


def draw_hand(ax, x, y, radius, angle, color, width=2) -> None:
    """A hand from (x, y), with its angle clockwise from the top."""
    end = x + radius * math.sin(angle), y - radius * math.cos(angle)
    line(ax, (x, y), end, color=color, width=width)
    ax.plot(*end, "o", color=color, markersize=3 + width)


@figure(
    en={
        "pair": "a pair of numbers, {}° per position",
        "query": "query at {}",
        "key": "key at {}",
        "apart": "{}° apart",
        "score": "score {}",
    },
    zh={
        "pair": "一对数，每个位置转 {}°",
        "query": "查询在位置 {}",
        "key": "键在位置 {}",
        "apart": "相差 {}°",
        "score": "分数 {}",
    },
)
def hands(label):
    """A query and a key at four distances, in a fast and in a slow pair of numbers."""
    radius = 40
    fig, ax = blank_canvas(442)
    for x, (i, j) in zip((65, 195, 325, 455), ((3, 1), (10, 8), (5, 0), (24, 0)), strict=True):
        write(ax, x, 13, label["query"].format(i), QUERY, size=17)
        write(ax, x, 36, label["key"].format(j), KEY, size=17)
        for y, degrees in (150, 30), (342, 3):
            step = math.radians(degrees)
            circle = [(math.sin(t / 20 * math.pi), math.cos(t / 20 * math.pi)) for t in range(41)]
            line(ax, *((x + radius * a, y + radius * b) for a, b in circle))
            between = [(j + (i - j) * t / 60) * step for t in range(61)]
            turns = (i - j) * step > 2 * math.pi  # more than one: a spiral
            radii = [16 + 14 * t / 60 if turns else 20 for t in range(61)]
            arc = [(r * math.sin(p), -r * math.cos(p)) for r, p in zip(radii, between, strict=True)]
            line(ax, *((x + a, y + b) for a, b in arc), color=THIRD, width=2.4)
            coincide = (i - j) * degrees % 360 == 0  # then the key must be seen behind the query
            draw_hand(ax, x, y, radius, j * step, KEY, 6 if coincide else 2)
            draw_hand(ax, x, y, radius, i * step, QUERY)
            write(ax, x, y - radius - 14, "0°", MUTED, size=17)
            write(ax, x, y + radius + 18, label["apart"].format((i - j) * degrees), THIRD, size=17)
            score = f"{math.cos((i - j) * step):.2f}".replace("-", "−")
            write(ax, x, y + radius + 40, label["score"].format(score), THIRD, size=17)
    for y, degrees in (72, 30), (264, 3):
        write(ax, 4, y, label["pair"].format(degrees), MUTED, ha="left", size=17)
    return fig


@figure(
    en={"head": "head {}\nm = 1/{}", "query": "query ↓", "key": "key →"},
    zh={"head": "{} 号头\nm = 1/{}", "query": "查询 ↓", "key": "键 →"},
)
def bias(label):
    n, size, top = 8, 11, 44
    fig, ax = narrow_canvas(156)
    values = alibi_bias(n, 4)[0].tolist()
    for head, (matrix, slope) in enumerate(zip(values, alibi_slopes(4).tolist(), strict=True)):
        x = 6 + head * 100
        write(ax, x + n * size / 2, 20, label["head"].format(head, round(1 / slope)))
        signed_cells(ax, x, top, matrix, size, 1.75)
        line(ax, (x, top), (x + n * size, top + n * size), color=INK, width=1)
        write(ax, x, 144, label["key"], KEY, ha="left", size=12.5)
        write(ax, x + n * size, 144, label["query"], QUERY, ha="right", size=12.5)
    return fig


@figure(
    en={
        "window": "window 3, causal",
        "layer": "layer {}",
        "input": "input",
        "query": "query ↓",
        "key": "key →",
    },
    zh={
        "window": "窗口 3，因果",
        "layer": "第 {} 层",
        "input": "输入",
        "query": "查询 ↓",
        "key": "键 →",
    },
)
def window(label):
    n, size, width = 9, 14, 3
    fig, ax = narrow_canvas(200)
    mask = (sliding_window_mask(n, width) & causal_mask(n))[0, 0]
    fill_cells(ax, 4, 32, mask, size, SECOND, 0.55)
    grid(ax, 4, 32, n, n, size)
    write(ax, 4, 18, label["key"], KEY, ha="left", size=12.5)
    write(ax, 4 + n * size, 18, label["query"], QUERY, ha="right", size=12.5)
    write(ax, 4 + n * size / 2, 180, label["window"], size=12.5)
    heights, gap, left, last = (158, 114, 70, 26), 24, 200, 8
    for layer in range(1, 4):
        for i in range(n):
            seen = last - i <= (3 - layer) * (width - 1)
            for j in range(max(0, i - width + 1), i + 1):
                ends = (left + i * gap, heights[layer]), (left + j * gap, heights[layer - 1])
                line(ax, *ends, color=FIRST if seen else MUTED, width=1.6 if seen else 0.5)
    for layer, y in enumerate(heights):
        name = label["layer"].format(layer) if layer else label["input"]
        write(ax, left - 14, y, name, ha="right", size=12.5)
        for i in range(n):
            seen = last - i <= (3 - layer) * (width - 1)
            ax.plot(
                left + i * gap, y, "o", color=FIRST if seen else MUTED, markersize=8 if seen else 5
            )
    for i in range(n):
        write(ax, left + i * gap, 180, str(i), size=12.5)
    return fig


def read_by_position() -> dict:
    return json.loads((RESULTS / "variants-positions.json").read_text(encoding="utf-8"))


@figure(
    en={
        "x": "length of the sequence",
        "y": "correct",
        "1": "the token before",
        "3": "three before",
        "sinusoids": "sinusoids",
        "learned": "learned",
        "rotary": "rotary",
        "ALiBi": "ALiBi",
        "rotary in a window": "rotary in a window",
        "guessing": "guessing",
    },
    zh={
        "x": "序列长度",
        "y": "答对的比例",
        "1": "前一个词元",
        "3": "前面第三个",
        "sinusoids": "正弦",
        "learned": "可学习",
        "rotary": "旋转",
        "ALiBi": "ALiBi",
        "rotary in a window": "窗口里的旋转",
        "guessing": "随机猜",
    },
)
def back(label):
    measured = json.loads((RESULTS / "variants.json").read_text(encoding="utf-8"))
    guessing = read_by_position()["guessing"]
    best = measured["best"]["back"]
    runs = [
        run
        for run in measured["runs"]
        if run["task"] == "back" and run["rate"] == best[run["variant"]]
    ]
    styles = {
        "sinusoids": (MUTED, "-", "o"),
        "learned": (MUTED, ":", "s"),
        "rotary": (FIRST, "-", "o"),
        "ALiBi": (SECOND, "-", "^"),
        "rotary in a window": (FIRST, "--", "D"),
    }
    fig, axes = canvas(height=300, columns=2, sharey=True)
    for ax, distance in zip(axes, ("1", "3"), strict=True):
        for name, (color, style, marker) in styles.items():
            variant_runs = [run for run in runs if run["variant"] == name]
            lengths = [
                int(key.split()[-1])
                for key in variant_runs[0]
                if key.startswith(f"{distance} back")
            ]
            accuracies = [
                statistics.mean(run[f"{distance} back, length {n}"] for run in variant_runs)
                for n in lengths
            ]
            ax.semilogx(
                lengths,
                accuracies,
                style,
                marker=marker,
                markersize=5,
                color=color,
                label=label[name],
            )
        ax.axhline(guessing, ls="--", color=MUTED, lw=1.4, zorder=1)
        ax.set_title(label[distance])
        ax.set_xticks(lengths, [str(n) for n in lengths])
        ax.minorticks_off()
        ax.set_yticks([0, 0.5, 1], ["0%", "50%", "100%"])
        ax.set_ylim(0, 1.05)
        ax.grid(axis="y")
        ax.set_xlabel(label["x"])
    axes[0].text(20, guessing - 0.02, label["guessing"], color=MUTED, ha="left", va="top")
    axes[0].set_ylabel(label["y"])
    handles, names = axes[0].get_legend_handles_labels()
    fig.legend(handles, names, loc="outside lower center", ncols=2)
    return fig


@figure(
    en={
        "x": "position",
        "y": "correct",
        "1": "the token before",
        "3": "three before",
        "trained": "trained",
        "guessing": "guessing",
    },
    zh={
        "x": "位置",
        "y": "答对的比例",
        "1": "前一个词元",
        "3": "前面第三个",
        "trained": "训练过",
        "guessing": "随机猜",
    },
)
def back_positions(label):
    measured = read_by_position()
    fig, axes = canvas(height=220, columns=2, sharey=True)
    for ax, distance in zip(axes, (1, 3), strict=True):
        runs = [run[f"{distance} back"] for run in measured["runs"]]
        positions = range(distance, distance + len(runs[0]))
        ax.axvspan(0, 19.5, color=MUTED, alpha=0.15, lw=0)
        ax.text(10, 0.5, label["trained"], color=MUTED, ha="center")
        for run in runs:
            ax.plot(positions, run, color=FIRST, lw=0.8, alpha=0.5)
        means = [statistics.mean(values) for values in zip(*runs, strict=True)]
        ax.plot(positions, means, color=FIRST, lw=2.2)
        ax.axhline(measured["guessing"], ls="--", color=MUTED, lw=1.4)
        ax.set_title(label[str(distance)])
        ax.set_xlim(0, 40)
        ax.set_yticks([0, 0.5, 1], ["0%", "50%", "100%"])
        ax.set_ylim(0, 1.05)
        ax.grid(axis="y")
        ax.set_xlabel(label["x"])
    axes[0].text(
        39, measured["guessing"] - 0.02, label["guessing"], color=MUTED, ha="right", va="top"
    )
    axes[0].set_ylabel(label["y"])
    return fig
