"""Figures of the page on modern decoders."""

from figures.style import FIRST, SECOND, THIRD, VALUE, canvas, figure
from variants.latent_attention import LatentAttention

LAYERS, HEAD_DIM = 61, 128  # of DeepSeek-V3


@figure(
    en={
        "multi-head": "multi-head, 128",
        "grouped": "grouped, 8",
        "latent": "latent",
        "multi-query": "multi-query, 1",
        "bytes": "kilobytes in the cache for a token",
    },
    zh={
        "multi-head": "多头，128",
        "grouped": "分组查询，8",
        "latent": "潜在注意力",
        "multi-query": "多查询，1",
        "bytes": "缓存里每个词元的 kB 数",
    },
)
def cache(label):
    latent = LatentAttention(8, 2).kv_down.out_features
    numbers = {
        "multi-head": 2 * 128 * HEAD_DIM,
        "grouped": 2 * 8 * HEAD_DIM,
        "latent": latent,
        "multi-query": 2 * HEAD_DIM,
    }
    fig, ax = canvas(height=200)
    for i, count in enumerate(numbers.values()):
        size = count * LAYERS * 2 / 1000
        color = (FIRST, SECOND, VALUE, THIRD)[i]
        ax.plot(size, i, "o", color=color, markersize=9)
        ax.text(size * 1.25, i, f"{size:,.0f}", va="center")
    ax.set_xscale("log")
    ax.set_xlim(10, 20000)
    ax.grid(axis="x")
    ax.set_ylim(-0.6, 3.6)
    ax.set_yticks(range(len(numbers)), [label[name] for name in numbers])
    ax.invert_yaxis()
    ax.set_xlabel(label["bytes"])
    return fig
