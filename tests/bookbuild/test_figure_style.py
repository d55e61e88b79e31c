"""figures/style.py, svg.py and diagram.py make small figures in both languages, which the page
colors."""

import re

import pytest

from figures import diagram, style
from figures.svg import render_svg


def draw(steps, size: int = 100) -> str:
    """The SVG of a canvas of diagram.py after these steps, a function of the axes."""

    @style.figure(en={}, zh={})
    def by_hand(label):
        fig, ax = diagram.blank_canvas(size)
        steps(ax)
        return fig

    return render_svg(by_hand, "en")


@style.figure(en={"x": "0.0001 of it"}, zh={"x": "万分之一"})
def wave_figure(label):
    fig, ax = style.canvas()
    ax.plot([0, 1, 0], label="a")
    ax.plot([1, 0, 1], color=style.KEY)
    ax.plot(range(50), "o", color=style.SECOND)
    ax.fill_between([0, 1], [0, 1], color=style.QUERY, alpha=0.2)
    ax.grid(True)
    ax.legend()
    ax.set_xlabel(label["x"])
    return fig


def test_a_figure_is_the_same_each_time_and_changes_nothing_outside_of_itself():
    english = render_svg(wave_figure, "en")
    assert english == render_svg(wave_figure, "en")
    assert ">0.0001 of it</text>" in english
    assert ">万分之一</text>" in render_svg(wave_figure, "zh")
    assert not re.search("<style|<metadata|font-family|<g>", english)
    assert not re.search(r"^\s*$", english.strip(), re.M), "a blank line would end the HTML block"
    ids = re.findall(r' id="([^"]+)"', english)
    references = re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", english)
    assert {one or other for one, other in references} == {*ids}
    assert len(ids) == len({*ids})


def test_colors_are_those_of_the_theme_and_coordinates_are_rounded():
    english = render_svg(wave_figure, "en").replace("0.0001 of it", "")
    for color in ("currentColor", "var(--figure-first)", "var(--key)", "var(--query)"):
        assert color in english
    assert not re.findall("#0[0-9]0[0-9]0[0-9]", english), "a placeholder of a color is left"
    assert not re.search(r"\d\.\d{3}", english)
    assert not re.search(r' d="[^"]*\d\.\d\d', english)
    assert english.count("<use ") >= 50 and english.count("fill: var(--figure-second)") == 1


def test_the_coordinates_of_a_canvas_are_the_units_of_the_svg():
    def steps(ax):
        diagram.line(ax, (10, 20), (510, 20), (510, 90))
        diagram.frame(ax, 30, 40, 200, 50, style.INK)
        diagram.write(ax, 260, 12, "middle")

    drawn = draw(steps)
    assert 'viewBox="0 0 520 100"' in drawn
    assert ' d="M10 20h500v70"' in drawn
    assert ' d="M30 40h200v50h-200v-50z"' in drawn
    assert re.search(r'text-anchor: middle[^"]*" x="260" y="1\d', drawn)
    assert "clip-path" not in drawn


def test_a_shape_is_drawn_up_to_the_edge_of_the_canvas_and_rejected_beyond():
    """The SVG would cut it off."""
    right = diagram.WIDTH - 20
    for x, y in ((0, 10), (right, 10), (9, 0), (9, 80)):
        assert "<path" in draw(lambda ax, x=x, y=y: diagram.grid(ax, x, y, 2, 2, 10))
    for x, y in ((-1, 10), (right + 1, 10), (9, -1), (9, 81)):
        with pytest.raises(ValueError, match="a shape is 1 units outside the figure"):
            draw(lambda ax, x=x, y=y: diagram.grid(ax, x, y, 2, 2, 10))


def test_a_text_too_small_on_a_phone_is_rejected():
    """A window of 390 pixels shows 382 of a figure, so 520 units."""
    assert ">a</text>" in draw(lambda ax: diagram.write(ax, 20, 20, "a", size=15))
    with pytest.raises(ValueError, match=r"by_hand: .* must be at least 15$"):
        draw(lambda ax: diagram.write(ax, 20, 20, "a", size=14.8))


def test_the_parts_of_a_diagram_have_their_places():
    """An arrow ends at its last point, a box covers what is below it and can be one link."""

    def steps(ax):
        diagram.arrow(ax, (10, 20), (10, 80), (90, 80))
        diagram.box(ax, 10, 10, 80, 30, style.SECOND, "memory")
        diagram.frame(ax, 205, 5, 90, 20, style.FIRST, url="masks.md#both")
        diagram.write(ax, 250, 15, "linked", url="masks.md#both", zorder=1)
        diagram.label_rows(ax, 350, 30, ["we", diagram.PAD], 20)
        diagram.label_columns(ax, 350, 30, ["我", diagram.PAD], 20)

    drawn = draw(steps)
    assert ' d="M10 20v60h' in drawn
    assert drawn.index("fill: var(--figure-paper)") < drawn.index("fill: var(--figure-second)")
    assert ">memory</text>" in drawn
    ((url, content),) = re.findall(r'<a xlink:href="([^"]*)">(.*?)</a>', drawn, re.S)
    assert url == "masks.md#both" and "<path" in content and "<text" in content
    assert len(re.findall(r'text-anchor: end[^"]*" x="344"', drawn)) == 2
    assert re.search(r'text-anchor: middle[^"]*" x="360" y="2\d', drawn)
    assert drawn.count("rotate(-90") == 1
