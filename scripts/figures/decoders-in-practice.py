"""Figures of the page on decoders in practice."""

from figures.style import FIRST, SECOND, THIRD, canvas, figure
from variants.rope_scaling import rope_frequencies


@figure(
    en={
        "linear": "linear",
        "ntk": "NTK",
        "yarn": "YaRN",
        "pair": "pair, from fast to slow",
        "divided": "angle divided by",
    },
    zh={
        "linear": "线性",
        "ntk": "NTK",
        "yarn": "YaRN",
        "pair": "第几对特征，从快到慢",
        "divided": "角度除以",
    },
)
def rope_scaling(label):
    plain, _ = rope_frequencies(128)
    fig, ax = canvas(220)
    for scaling, color in (("linear", FIRST), ("ntk", SECOND), ("yarn", THIRD)):
        scaled, _ = rope_frequencies(128, scaling=scaling, factor=4.0)
        ax.plot(plain / scaled, color=color, label=label[scaling])
    ax.set_ylim(0.8, 4.3)
    ax.set_yticks([1, 2, 3, 4])
    ax.set_xlabel(label["pair"])
    ax.set_ylabel(label["divided"])
    ax.grid()
    ax.legend(loc="center left")
    return fig
