"""The figure of the overview that links to the chapters: figure 1 of the paper."""

from matplotlib.colors import to_rgba

from figures.diagram import CHINESE, ENGLISH, arrow, frame, line, write
from figures.overview import narrow_canvas
from figures.style import FIRST, INK, MUTED, PAPER, SECOND, THIRD, figure

ENCODER, DECODER = 99, 301  # the middles of the two columns
HALF = 65  # of a box


def link(ax, x, y, text, url, color=INK, **options) -> None:
    """A text that leads to a section of the book."""
    write(ax, x, y, text, color, url=url, zorder=1, **options)


def linked_box(ax, x, y, height, text, url, color, width=2 * HALF) -> None:
    """A box around (x, y) that leads to a section of the book."""
    corner = x - width / 2, y - height / 2
    frame(ax, *corner, width, height, "none", 0, facecolor=PAPER)
    frame(ax, *corner, width, height, color, facecolor=to_rgba(color, 0.14), url=url)
    lines = text.split("\n")
    for i, words in enumerate(lines):
        link(ax, x, y + 16 * (i - (len(lines) - 1) / 2), words, url)


@figure(
    en={
        "inputs": "inputs",
        "outputs": "outputs, shifted right",
        "embedding": "embedding",
        "position": "positional encoding",
        "self": "multi-head\nself-attention",
        "masked": "masked multi-head\nself-attention",
        "cross": "multi-head\ncross-attention",
        "add": "add",
        "norm": "norm",
        "network": "feed-forward",
        "encoder": "encoder × N",
        "decoder": "decoder × N",
        "memory": "encoder output",
        "linear": "linear",
        "softmax": "softmax",
        "probabilities": "output probabilities",
    },
    zh={
        "inputs": "输入",
        "outputs": "输出（右移一位）",
        "embedding": "嵌入",
        "position": "位置编码",
        "self": "多头\n自注意力",
        "masked": "带掩码的多头\n自注意力",
        "cross": "多头\n交叉注意力",
        "add": "相加",
        "norm": "归一化",
        "network": "前馈网络",
        "encoder": "编码器 × N",
        "decoder": "解码器 × N",
        "memory": "编码器输出",
        "linear": "线性层",
        "softmax": "softmax",
        "probabilities": "输出概率",
    },
)
def figure_1(label):
    fig, ax = narrow_canvas(536)
    for x, top in ((ENCODER, 204), (DECODER, 112)):
        color = SECOND if x == ENCODER else FIRST
        frame(ax, x - 83, top, 166, 394 - top, color, 1, facecolor=to_rgba(color, 0.05))

    def inputs(x, name, words):
        write(ax, x, 526, words, MUTED, size=12.5)
        url = "embeddings.md#tokens" if x == ENCODER else "full-model.md#shifted"
        link(ax, x, 508, label[name], url)
        arrow(ax, (x, 498), (x, 484))
        linked_box(ax, x, 470, 28, label["embedding"], "embeddings.md", THIRD)
        arrow(ax, (x, 456), (x, 442))
        linked_box(ax, x, 428, 28, label["position"], "positional-encoding.md", THIRD)
        arrow(ax, (x, 414), (x, 376))

    def sublayer(x, bottom, height, name, url):
        """A box with its bottom there, and above it a residual connection."""
        color = SECOND if x == ENCODER else FIRST
        linked_box(ax, x, bottom - height / 2, height, label[name], url, color)
        y = bottom - height - 17
        linked_box(ax, x - HALF / 2, y, 26, label["add"], "sublayers.md#residual", MUTED, HALF)
        linked_box(ax, x + HALF / 2, y, 26, label["norm"], "layer-norm.md", MUTED, HALF)
        edge = x - 75
        arrow(ax, (x, bottom + 9), (edge, bottom + 9), (edge, y), (x - HALF, y))
        line(ax, (x, bottom - height), (x, y + 13))

    inputs(ENCODER, "inputs", " ".join(ENGLISH))
    sublayer(ENCODER, 376, 38, "self", "multi-head-attention.md")
    arrow(ax, (ENCODER, 308), (ENCODER, 292))
    sublayer(ENCODER, 292, 30, "network", "sublayers.md#feed-forward")
    link(ax, ENCODER - 76, 217, label["encoder"], "encoder-decoder.md#encoder", ha="left")
    link(ax, 150, 168, label["memory"], "encoder-decoder.md#decoder")
    inputs(DECODER, "outputs", f"<bos>{''.join(CHINESE)}")
    sublayer(DECODER, 376, 38, "masked", "masks.md#causal-mask")
    arrow(ax, (DECODER, 308), (DECODER, 292))
    sublayer(DECODER, 292, 38, "cross", "encoder-decoder.md#cross-attention")
    arrow(ax, (DECODER, 224), (DECODER, 208))
    sublayer(DECODER, 208, 30, "network", "sublayers.md#feed-forward")
    path = (ENCODER, 232), (ENCODER, 180), (199, 180), (199, 273), (DECODER - HALF, 273)
    arrow(ax, *path, color=THIRD, width=2)
    link(ax, DECODER - 76, 126, label["decoder"], "encoder-decoder.md#decoder-layer", ha="left")
    arrow(ax, (DECODER, 148), (DECODER, 98))
    linked_box(ax, DECODER, 85, 26, label["linear"], "full-model.md#transformer", THIRD)
    arrow(ax, (DECODER, 72), (DECODER, 60))
    linked_box(ax, DECODER, 47, 26, label["softmax"], "full-model.md#logits", THIRD)
    arrow(ax, (DECODER, 34), (DECODER, 22))
    link(ax, DECODER, 12, label["probabilities"], "decoding.md")
    return fig
