"""The figure of the page on LoRA: a weight and its change, to scale."""

from figures.diagram import box, write
from figures.overview import narrow_canvas
from figures.style import FIRST, MUTED, figure


@figure(
    en={"frozen": "doesn't change", "trained": "trained"},
    zh={"frozen": "不变", "trained": "训练"},
)
def sizes(label):
    """W of 576 x 576 beside B and A of rank 4."""
    side, thin = 150, 150 * 4 / 576
    fig, ax = narrow_canvas(206)
    box(ax, 24, 26, side, side, MUTED, "W")
    write(ax, 24 + side / 2, 192, label["frozen"])
    write(ax, 196, 26 + side / 2, "+")
    box(ax, 222, 26, thin, side, FIRST, edge=0.6, tint=1)
    box(ax, 236, 26 + side / 2, side, thin, FIRST, edge=0.6, tint=1)
    write(ax, 222, 14, "B")
    write(ax, 236 + side / 2, 26 + side / 2 - 12, "A")
    write(ax, 300, 192, label["trained"])
    return fig
