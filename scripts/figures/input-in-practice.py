"""Figures of the page on embeddings and positions in practice."""

import math

import numpy as np
from matplotlib.ticker import NullLocator

from figures.style import FIRST, SECOND, canvas, figure, powers_of_ten


@figure(
    en={
        "x": "position",
        "y": "largest error of a row",
        "all": "all in float32",
        "ours": "float64 first, stored as float32",
    },
    zh={
        "x": "位置",
        "y": "一行中的最大误差",
        "all": "全程 float32",
        "ours": "先用 float64，再存成 float32",
    },
)
def float32_error(label):
    fig, ax = canvas(height=280)
    position = np.unique(np.geomspace(1, 20000, 100).astype(int))
    even = np.arange(0, 512, 2)

    def table(p, frequency):
        angle = p[:, None] * frequency
        return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)

    exact = table(position.astype(float), np.exp(even * (-math.log(1e4) / 512)))
    step = np.float32(-math.log(1e4) / 512)
    frequency = np.exp(even.astype(np.float32) * step)
    single = table(position.astype(np.float32), frequency)
    for values, color, name in (
        (single, SECOND, label["all"]),
        (exact.astype(np.float32), FIRST, label["ours"]),
    ):
        error = np.abs(values - exact).max(axis=1)
        ax.loglog(position, error, color=color, label=name)
    ax.set_xlim(1, 20000)
    ax.set_ylim(1e-8, 3e-2)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0f}")
    ax.xaxis.set_minor_locator(NullLocator())
    powers_of_ten(ax.yaxis)
    ax.set_xlabel(label["x"])
    ax.set_ylabel(label["y"])
    ax.grid(axis="y")
    ax.legend(loc="upper left", frameon=True)
    return fig
