"""The figure of the chapter on real text: the weights of a published translator in our modules."""

from figures.diagram import arrow, box, write
from figures.overview import narrow_canvas
from figures.style import FIRST, INK, MUTED, SECOND, THIRD, VALUE, figure


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
