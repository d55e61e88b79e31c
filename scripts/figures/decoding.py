"""Figures of the chapter on decoding."""

import json
from typing import Any

import torch

from decode import probabilities
from figures.diagram import arrow, box, line, write
from figures.examples import SNIPPETS, run_example
from figures.overview import narrow_canvas
from figures.style import FIRST, INK, KEY, MUTED, SECOND, canvas, figure

TRANSLATOR = "translator.safetensors"


@figure(
    en={
        "step": "step {}",
        "greedy": "greedy",
        "best": "found by beam search",
        "dropped": "dropped",
    },
    zh={
        "step": "第 {} 步",
        "greedy": "贪心",
        "best": "束搜索的结果",
        "dropped": "淘汰",
    },
)
def beams(label):
    search = run_example("exercises/decoding/grid.py")["beam_search"]
    fig, ax = narrow_canvas(330)
    kept, wider = ([search(size, steps=n) for n in range(1, 5)] for size in (2, 8))
    best, greedy = (tokens for tokens, _ in kept[-1])
    width, height, gap = 92, 40, 40
    positions: dict[tuple[str, ...], tuple[float, float]] = {}
    for step, candidates in enumerate(wider):
        y = 24 + step * (height + gap)
        write(ax, 6, y - 12, label["step"].format(step + 1), MUTED, ha="left", size=12.5)
        chosen = sorted((tokens for tokens, _ in kept[step]), key=lambda t: t != greedy[: step + 1])
        parents = [tokens for tokens, _ in kept[step - 1]] if step else [[]]
        others = [t for t, _ in candidates if t not in chosen and t[:step] in parents]
        for column, tokens in enumerate([*chosen, *others[: 2 if step < 3 else 0]]):
            x = 6 + column * (width + 6)
            color = MUTED
            if column < len(chosen):
                on_best = SECOND if tokens == best[: step + 1] else INK
                color = FIRST if tokens == greedy[: step + 1] else on_best
                positions[tuple(tokens)] = x + width / 2, y + height
            probability = next(p for t, p in candidates if t == tokens)
            tint = 0.2 if column < len(chosen) else 0.0
            box(ax, x, y, width, height, color, tint=tint)
            write(ax, x + width / 2, y + 12, " ".join(tokens), size=12.5)
            write(ax, x + width / 2, y + 29, f"{probability:.3f}", MUTED, size=12.5)
            start = positions.get(tuple(tokens[:-1]))
            if start and column < len(chosen):
                arrow(ax, start, (x + width / 2, y), color=color)
    y = 24 + 3 * (height + gap)
    for row, (name, color) in enumerate((("greedy", FIRST), ("best", SECOND))):
        write(ax, 210, y + 10 + 20 * row, label[name], color, ha="left")
    write(ax, 210, y + 50, label["dropped"], MUTED, ha="left")
    return fig


@figure(
    en={"greedy": "greedy", "best": "the most likely"},
    zh={"greedy": "贪心", "best": "概率最大"},
)
def tree(label):
    """Every sentence of two tokens, with its probability."""
    rows = run_example("examples/decoding/beams.py")["TREE"]
    after = {last: dict(zip("ABC", row, strict=True)) for last, row in rows.items()}
    fig, ax = narrow_canvas(264)
    root, x = (26, 132), 112
    write(ax, *root, "<bos>", size=13)
    for i, (first, p) in enumerate(after["<bos>"].items()):
        color = {"A": FIRST, "B": SECOND}.get(first, MUTED)
        fork = x, 46 + 86 * i
        line(ax, (root[0] + 24, root[1]), (x - 12, fork[1]), width=1 + 8 * p, color=color)
        write(ax, *((56, 80), (76, 119), (56, 184))[i], f"{p:.1f}")
        write(ax, *fork, first, size=16)
        for j, (second, q) in enumerate(after[first].items()):
            y = fork[1] + 27 * (j - 1)
            name = {"AA": "greedy", "BC": "best"}.get(first + second)
            end = color if name else MUTED
            line(ax, (x + 12, fork[1]), (180, y), width=1 + 8 * q, color=end)
            write(ax, 192, y, second, size=16)
            text = f"{p:.1f} · {q:.1f} = {p * q:.2f}"
            write(ax, 210, y, text, ha="left", color=end if name else INK)
            if name:
                write(ax, 306, y, label[name], ha="left", color=end)
    return fig


PERCENTAGES = {
    "表哥": 19,
    "表弟": 17,
    "表姐": 17,
    "表妹": 17,
    "堂哥": 2,
    "堂弟": 25,
    "堂姐": 2,
    "堂妹": 1,
}


@figure(
    en={
        "greedy": "greedy",
        "best": "the likeliest",
        "表": "all others",
        "堂": "father’s brothers",
        "哥": "older, male",
        "弟": "younger, male",
        "姐": "older, female",
        "妹": "younger, female",
    },
    zh={"greedy": "贪心", "best": "最可能"} | dict.fromkeys("表堂哥弟姐妹", ""),
)
def cousins(label):
    """The eight words for cousin; in English with the meaning of each character."""
    fig, ax = narrow_canvas(312)
    root, forks = (18, 150), {"表": (104, 78), "堂": (104, 222)}
    write(ax, *root, "我", size=16)
    for first, point in forks.items():
        fraction = sum(v for word, v in PERCENTAGES.items() if word[0] == first) / 100
        width = 1 + 8 * fraction
        ends = (root[0] + 14, root[1]), (point[0] - 14, point[1])
        line(ax, *ends, width=width, color={"表": FIRST, "堂": SECOND}[first])
        midpoint = (root[0] + point[0]) / 2, (root[1] + point[1]) / 2
        offset = -22 if first == "表" else 22
        write(ax, midpoint[0] - 12, midpoint[1] + offset, f"{fraction:.2f}")
        write(ax, *point, first, size=16)
        gloss_y = point[1] + offset
        write(ax, point[0] + 12, gloss_y, label[first], MUTED, ha="right", size=12.5)
    for i, (word, value) in enumerate(PERCENTAGES.items()):
        y = 24 + 36 * i + (6 if i > 3 else -6) + 3
        start = forks[word[0]]
        first_percentage = sum(v for other, v in PERCENTAGES.items() if other[0] == word[0])
        chosen = {"表哥": FIRST, "堂弟": SECOND}.get(word, MUTED)
        width = 1 + 8 * value / 100
        line(ax, (start[0] + 14, start[1]), (190, y), width=width, color=chosen)
        write(ax, 196, y, word[1], size=15, color=INK, ha="left")
        product = (
            f"{first_percentage / 100:.2f} · {value / first_percentage:.2f} = {value / 100:.2f}"
        )
        name = {"表哥": "greedy", "堂弟": "best"}.get(word)
        write(ax, 222, y, product, ha="left", color=chosen if name else INK)
        gloss = label[word[1]]
        write(ax, 222, y + 16, gloss, MUTED, ha="left", size=12.5)
        if name:
            x = 314 if gloss else 222
            write(ax, x, y + 16, label[name], ha="left", color=chosen, size=12.5)
    return fig


@figure(
    en={
        "without": "without a cache",
        "with": "with a cache",
        "sum": "{} computed",
        "computed": "computed in this step",
        "kept": "unchanged, from the cache",
    },
    zh={
        "without": "没有缓存",
        "with": "有缓存",
        "sum": "共算 {} 个",
        "computed": "这一步计算",
        "kept": "没有变，取自缓存",
    },
)
def cache(label):
    fig, ax = narrow_canvas(246)
    n, size = 4, 40
    for left, name in ((24, "without"), (226, "with")):
        write(ax, left + n * size / 2, 14, label[name])
        computed = 0
        for row in range(n):
            y = 30 + row * size
            write(ax, left - 12, y + size / 2, str(row + 1), MUTED)
            for column in range(row + 1):
                new = name == "without" or column == row
                computed += new
                x = left + column * size
                color = KEY if new else MUTED
                box(ax, x + 1, y + 1, size - 2, size - 2, color, tint=0.5 if new else 0.06)
                write(ax, x + size / 2, y + size / 2, f"k{'₁₂₃₄'[column]}", size=14)
        write(ax, left + n * size / 2, 204, label["sum"].format(computed))
    box(ax, 24, 222, 18, 18, KEY, tint=0.5)
    write(ax, 48, 231, label["computed"], ha="left")
    box(ax, 212, 222, 18, 18, MUTED, tint=0.06)
    write(ax, 236, 231, label["kept"], ha="left")
    return fig


@figure(
    en={
        "x": "tokens written",
        "y": "seconds",
        "cached": "with cache",
        "uncached": "without",
        "batch": "batch of {}",
    },
    zh={
        "x": "写出的词元（个）",
        "y": "秒",
        "cached": "有缓存",
        "uncached": "没有",
        "batch": "一批 {} 句",
    },
)
def cost(label):
    rows = json.loads((SNIPPETS / "results" / "decode.json").read_text())["rows"]
    fig, axes = canvas(height=260, columns=2, sharey=True)
    for ax, batch in zip(axes, (1, 32), strict=True):
        batch_rows = [row for row in rows if row["batch"] == batch]
        lengths = [row["length"] for row in batch_rows]
        for mode, color, index, shift in (
            ("uncached", SECOND, -2, 1.6),
            ("cached", FIRST, -1, 0.14),
        ):
            seconds = [row["seconds"][mode] for row in batch_rows]
            ax.plot(lengths, seconds, color=color, marker="o", markersize=4)
            position = lengths[index], seconds[index] * shift
            ax.text(*position, label[mode], color=color, ha="right", va="center")
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xticks(lengths, [str(n) for n in lengths])
        ax.minorticks_off()
        ax.set_title(label["batch"].format(batch))
        ax.set_xlabel(label["x"])
    axes[0].set_yticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
    axes[0].set_ylabel(label["y"])
    return fig


@figure(
    en={
        "plain": "as it is",
        "cold": "temperature 0.5",
        "hot": "temperature 2",
        "top_k": "top_k = 2",
        "top_p": "top_p = 0.8",
        "probability": "probability",
    },
    zh={
        "plain": "原样",
        "cold": "温度 0.5",
        "hot": "温度 2",
        "top_k": "top_k = 2",
        "top_p": "top_p = 0.8",
        "probability": "概率",
    },
)
def cut(label):
    logits = torch.tensor([0.4, 0.3, 0.15, 0.1, 0.05]).log()
    kinds: dict[str, dict[str, Any]] = {
        "plain": {},
        "cold": {"temperature": 0.5},
        "hot": {"temperature": 2.0},
        "top_k": {"top_k": 2},
        "top_p": {"top_p": 0.8},
    }
    fig, axes = canvas(height=290, rows=2, columns=3, sharey=True)
    plain = probabilities(logits).tolist()
    axes[1, 2].set_axis_off()
    for ax, (name, options) in zip(axes.flat, kinds.items(), strict=False):
        heights = probabilities(logits, **options).tolist()
        ax.bar(range(5), heights, color=FIRST, alpha=0.5)
        ax.step([x - 0.5 for x in range(6)], [*plain, plain[-1]], where="post", color=MUTED, lw=1)
        ax.set_title(label[name], fontsize=13)
        ax.set_xticks([])
        ax.set_ylim(0, 0.62)
    axes[0, 0].set_yticks([0, 0.2, 0.4, 0.6])
    for ax in axes[:, 0]:
        ax.set_ylabel(label["probability"])
    return fig
