"""Figures of the chapter on decoding."""

import json
from typing import Any

import torch
from matplotlib.patches import Rectangle

import translator
from decode import eval_mode, probabilities
from figures.diagram import arrow, blank_canvas, box, line, write
from figures.examples import SNIPPETS, run_example
from figures.style import FIRST, INK, KEY, MUTED, QUERY, SECOND, THIRD, VALUE, canvas, figure

TRANSLATOR = "translator.safetensors"


@figure(
    en={"given": "written so far", "next": "the next token, by probability"},
    zh={"given": "已经写出的", "next": "下一个词元，按概率"},
)
def steps(label):
    model, source, target = translator.load_translator(SNIPPETS / TRANSLATOR)
    src = torch.tensor([source.encode(["why", "do", "we", "work", "?"])])
    written, rows = [1], []
    with eval_mode(model):
        memory = model.encode(src)
        while written[-1] != 2 and len(written) < 12:
            x = model.decode(torch.tensor([written]), memory)
            top_probabilities, ids = model.logits(x[0, -1]).softmax(dim=-1).topk(3)
            tokens = [target.tokens[i] for i in ids.tolist()]
            rows.append((target.decode(written), tokens, top_probabilities.tolist()))
            written.append(ids.tolist()[0])
    fig, ax = blank_canvas(34 + 26 * len(rows))
    write(ax, 6, 14, label["given"], MUTED, ha="left")
    write(ax, 188, 14, label["next"], MUTED, ha="left")
    for i, (prefix, tokens, top_probabilities) in enumerate(rows):
        y = 40 + 26 * i
        write(ax, 6, y, "".join(["<bos>", *prefix]), ha="left", size=11.5)
        bar_left = 188.0
        for k, (token, probability) in enumerate(zip(tokens, top_probabilities, strict=True)):
            width = 220 * probability
            color = FIRST if k == 0 else MUTED
            ax.add_patch(Rectangle((bar_left, y - 9), width, 18, color=color, alpha=0.3, lw=0))
            x = bar_left + 4 if k == 0 else 444 + 40 * (k - 1)
            write(ax, x, y, token, ha="left", size=11.5)
            if k == 0:
                write(ax, 414, y, f"{probability:.0%}", ha="left", size=11.5)
            bar_left += width
    return fig


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
    search = run_example("examples/decoding/grid.py")["beam_search"]
    fig, ax = blank_canvas(250)
    kept, wider = ([search(size, steps=n) for n in range(1, 5)] for size in (2, 8))
    best, greedy = (tokens for tokens, _ in kept[-1])
    width, height, gap = 96, 34, 32
    left = [12 + step * (width + gap) for step in range(len(kept))]
    positions: dict[tuple[str, ...], tuple[float, float]] = {}
    for step, candidates in enumerate(wider):
        write(ax, left[step] + width / 2, 14, label["step"].format(step + 1), MUTED)
        chosen = sorted((tokens for tokens, _ in kept[step]), key=lambda t: t != greedy[: step + 1])
        parents = [tokens for tokens, _ in kept[step - 1]] if step else [[]]
        others = [t for t, _ in candidates if t not in chosen and t[:step] in parents]
        for row, tokens in enumerate([*chosen, *others[: 2 if step < 3 else 0]]):
            y = 34 + row * 52
            color = MUTED
            if row < len(chosen):
                on_best = SECOND if tokens == best[: step + 1] else INK
                color = FIRST if tokens == greedy[: step + 1] else on_best
                positions[tuple(tokens)] = left[step] + width, y + height / 2
            probability = next(p for t, p in candidates if t == tokens)
            tint = 0.2 if row < len(chosen) else 0.0
            box(ax, left[step], y, width, height, color, tint=tint)
            write(ax, left[step] + width / 2, y + 10, " ".join(tokens), size=11)
            write(ax, left[step] + width / 2, y + 25, f"{probability:.3f}", MUTED, size=11)
            start = positions.get(tuple(tokens[:-1]))
            if start and row < len(chosen):
                arrow(ax, start, (left[step], y + height / 2), color=color)
    for row, (name, color) in enumerate((("greedy", FIRST), ("best", SECOND))):
        write(ax, left[-1], 150 + 22 * row, label[name], color, ha="left", size=12)
    write(ax, left[-1], 150 + 22 * 2, label["dropped"], MUTED, ha="left", size=12)
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
    en={"greedy": "greedy", "best": "the likeliest"},
    zh={"greedy": "贪心", "best": "最可能"},
)
def tree(label):
    fig, ax = blank_canvas(306)
    root, forks = (24, 150), {"表": (140, 78), "堂": (140, 222)}
    write(ax, *root, "我", size=16)
    for first, point in forks.items():
        fraction = sum(v for word, v in PERCENTAGES.items() if word[0] == first) / 100
        width = 1 + 8 * fraction
        line(ax, (root[0] + 14, root[1]), (point[0] - 16, point[1]), width=width)
        midpoint = (root[0] + point[0]) / 2, (root[1] + point[1]) / 2
        offset = -22 if first == "表" else 22
        write(ax, midpoint[0] - 12, midpoint[1] + offset, f"{fraction:.2f}")
        write(ax, *point, first, size=16)
    for i, (word, value) in enumerate(PERCENTAGES.items()):
        y = 24 + 36 * i + (6 if i > 3 else -6) + 3
        start = forks[word[0]]
        first_percentage = sum(v for other, v in PERCENTAGES.items() if other[0] == word[0])
        chosen = {"表哥": FIRST, "堂弟": SECOND}.get(word, MUTED)
        width = 1 + 8 * value / 100
        line(ax, (start[0] + 14, start[1]), (262, y), width=width, color=chosen)
        write(ax, 272, y, word[1], size=15, color=INK, ha="left")
        product = (
            f"{first_percentage / 100:.2f} · {value / first_percentage:.2f} = {value / 100:.2f}"
        )
        name = {"表哥": "greedy", "堂弟": "best"}.get(word)
        write(ax, 312, y, product, ha="left", color=chosen if name else INK)
        write(ax, 432, y, label[name] if name else "", ha="left", color=chosen)
    return fig


@figure(
    en={
        "without": "without a cache",
        "with": "with a cache",
        "step": "step",
        "computed": "computed",
        "kept": "kept",
        "position": "position",
    },
    zh={
        "without": "没有缓存",
        "with": "有缓存",
        "step": "第几步",
        "computed": "计算",
        "kept": "取出来用",
        "position": "位置",
    },
)
def triangles(label):
    fig, ax = blank_canvas(270)
    n, size = 8, 24
    for left, name in ((40, "without"), (300, "with")):
        write(ax, left + n * size / 2, 14, label[name])
        for row in range(n):
            y = 34 + row * size
            write(ax, left - 12, y + size / 2, str(row + 1), MUTED, size=11)
            for column in range(row + 1):
                new = name == "without" or column == row
                x = left + column * size
                color = FIRST if new else MUTED
                box(ax, x + 1, y + 1, size - 2, size - 2, color, tint=0.5 if new else 0.06)
    box(ax, 40, 242, 18, 18, FIRST, tint=0.5)
    write(ax, 66, 251, label["computed"], ha="left")
    box(ax, 160, 242, 18, 18, MUTED, tint=0.06)
    write(ax, 186, 251, label["kept"], ha="left")
    return fig


@figure(
    en={
        "new": "one new position",
        "target": "of the target: one more each step",
        "source": "of memory: always the same",
        "self": "self-attention",
        "cross": "cross-attention",
        "network": "feed-forward",
        "out": "to the next layer",
    },
    zh={
        "new": "一个新位置",
        "target": "译文的：每一步多一个",
        "source": "memory 的：始终不变",
        "self": "自注意力",
        "cross": "交叉注意力",
        "network": "前馈网络",
        "out": "去下一层",
    },
)
def kept(label):
    fig, ax = blank_canvas(360)
    x, width = 16, 128

    def rows(y, count, new, text):
        write(ax, 226, y - 22, text, MUTED, ha="left", size=12)
        for name, color, top in (("K", KEY, y - 8), ("V", VALUE, y + 22)):
            write(ax, 232, top + 12, name, color, ha="center")
            for i in range(count):
                last = new and i == count - 1
                box(ax, 250 + 34 * i, top, 30, 24, color, tint=0.55 if last else 0.14)

    write(ax, x + width / 2, 22, label["new"])
    arrow(ax, (x + width / 2, 34), (x + width / 2, 80))
    for y, name, count, new, text in (
        (80, "self", 6, True, "target"),
        (190, "cross", 5, False, "source"),
    ):
        box(ax, x, y, width, 52, QUERY, label[name])
        rows(y + 10, count, new, label[text])
        arrow(ax, (x + width, y + 14), (222, y + 14), color=QUERY)
        write(ax, 182, y + 4, "q", QUERY)
        arrow(ax, (222, y + 38), (x + width, y + 38))
    # the new key and value come from the new position
    turn = 44
    line(ax, (x + width / 2, turn), (435, turn), color=MUTED, linestyle=(0, (3, 3)))
    arrow(ax, (435, turn), (435, 80))
    arrow(ax, (x + width / 2, 132), (x + width / 2, 190))
    arrow(ax, (x + width / 2, 242), (x + width / 2, 278))
    box(ax, x, 278, width, 34, THIRD, label["network"])
    arrow(ax, (x + width / 2, 312), (x + width / 2, 336))
    write(ax, x + width / 2, 348, label["out"])
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
    },
    zh={
        "plain": "原样",
        "cold": "温度 0.5",
        "hot": "温度 2",
        "top_k": "top_k = 2",
        "top_p": "top_p = 0.8",
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
    fig, axes = canvas(height=190, columns=5, sharey=True)
    plain = probabilities(logits).tolist()
    for ax, (name, options) in zip(axes, kinds.items(), strict=True):
        heights = probabilities(logits, **options).tolist()
        ax.bar(range(5), heights, color=FIRST, alpha=0.5)
        ax.step([x - 0.5 for x in range(6)], [*plain, plain[-1]], where="post", color=MUTED, lw=1)
        ax.set_title(label[name], fontsize=11)
        ax.set_xticks([])
        ax.set_ylim(0, 0.62)
    axes[0].set_yticks([0, 0.2, 0.4, 0.6])
    return fig
