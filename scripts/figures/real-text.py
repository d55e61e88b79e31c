"""The figures of the chapter on real text: the weights of a published translator, a training."""

import json
from pathlib import Path

import transformer
from figures.diagram import arrow, box, write
from figures.overview import narrow_canvas
from figures.style import FIRST, INK, MUTED, SECOND, THIRD, VALUE, canvas, figure

RESULTS = Path(transformer.__file__).parent / "results"


@figure(
    en={
        "published": "published name",
        "ours": "our name",
        "table": "embeddings",
        "positions": "sinusoids",
        "self": "self-attention",
        "cross": "cross-attention",
        "network": "feed-forward",
        "norm": "add, LayerNorm",
        "bias": "bias",
        "computed": "computed",
    },
    zh={
        "published": "公开的名字",
        "ours": "我们的名字",
        "table": "嵌入表",
        "positions": "正余弦位置",
        "self": "自注意力",
        "cross": "交叉注意力",
        "network": "前馈网络",
        "norm": "相加、层归一化",
        "bias": "偏置",
        "computed": "计算得到",
    },
)
def names(label):
    rows = (
        ("bias", THIRD, "final_logits_bias", "bias", True),
        ("table", THIRD, "shared", "output", False),
        ("norm", MUTED, "final_layer_norm", "norm3", False),
        ("network", FIRST, "fc1, fc2", "feed_forward", True),
        ("norm", MUTED, "encoder_attn_layer_norm", "norm2", False),
        ("cross", SECOND, "encoder_attn", "cross_attention", False),
        ("norm", MUTED, "self_attn_layer_norm", "norm1", False),
        ("self", SECOND, "self_attn", "self_attention", False),
        ("positions", VALUE, label["computed"], "position.table", True),
        ("table", THIRD, "shared", "tgt_embedding", False),
    )
    pitch, top, left, width, height = 42, 34, 164, 122, 28
    fig, ax = narrow_canvas(top + pitch * len(rows) + 8)
    middle = left + width / 2
    write(ax, left - 8, 18, label["published"], MUTED, ha="right")
    write(ax, left + width + 8, 18, label["ours"], MUTED, ha="left")
    for i, (name, color, published, ours, changed) in enumerate(rows):
        y = top + i * pitch
        if i:
            arrow(ax, (middle, y), (middle, y - pitch + height))
        box(ax, left, y, width, height, color, label[name], edge=2.4 if changed else 1.2)
        for x, text, side in ((left - 8, published, "right"), (left + width + 8, ours, "left")):
            write(ax, x, y + height / 2, text, INK, ha=side, size=12.5)
    return fig


@figure(
    en={"x": "step", "loss": "validation loss", "bleu": "validation BLEU"},
    zh={"x": "步", "loss": "验证集的损失", "bleu": "验证集的 BLEU"},
)
def corpus_curve(label):
    text = (RESULTS / "real-corpus.json").read_text(encoding="utf-8")
    fig, axes = canvas(height=260, columns=2)
    for seed, curve in json.loads(text)["curves"].items():
        color = (FIRST, SECOND, THIRD)[int(seed)]
        steps = [point["step"] for point in curve]
        for ax, name in zip(axes, ("held_out", "bleu"), strict=True):
            ax.plot(steps, [point[name] for point in curve], color=color)
    for ax, name in zip(axes, ("loss", "bleu"), strict=True):
        ax.set_title(label[name])
        ax.set_xlabel(label["x"])
        ax.grid(axis="y")
        ax.set_ylim(0)
    return fig
