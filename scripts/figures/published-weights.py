"""The figure of the page on published weights: how similar six sentences are."""

import json
import textwrap
from pathlib import Path

import transformer
from figures.style import canvas, figure, signed_image

RESULTS = Path(transformer.__file__).parent / "results" / "published-encoder.json"


@figure(en={}, zh={})
def similarity(label):
    measured = json.loads(RESULTS.read_text(encoding="utf-8"))
    fig, ax = canvas(height=300)
    signed_image(ax, measured["similarity"], largest=1.6)
    for i, row in enumerate(measured["similarity"]):
        for j, cosine in enumerate(row):
            text = f"{cosine:.2f}".replace("-0.00", "0.00").replace("-", "−")
            ax.text(j, i, text, ha="center", va="center", size=13)
    numbered = [f"{i}  {text}" for i, text in enumerate(measured["sentences"], start=1)]
    ax.set_yticks(range(6), [textwrap.fill(text, 20) for text in numbered])
    ax.set_xticks(range(6), range(1, 7))
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return fig
