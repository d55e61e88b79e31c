"""figures/style.py, svg.py and diagram.py make small figures in both languages, which the page
colors."""

import base64
import re
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from figures import diagram, style, svg
from figures.svg import render_svg, short_path


@style.figure(en={"x": "position"}, zh={"x": "位置"})
def wave_figure(label):
    fig, ax = style.canvas()
    ax.plot([0, 1, 0], label="a")
    ax.plot([1, 0, 1], color=style.KEY)
    ax.fill_between([0, 1], [0, 1], color=style.QUERY, alpha=0.2)
    ax.grid(True)
    ax.legend()
    ax.set_xlabel(label["x"])
    return fig


def test_the_same_figure_gives_the_same_bytes():
    assert render_svg(wave_figure, "en") == render_svg(wave_figure, "en")


def test_text_stays_text_in_both_languages():
    assert ">position</text>" in render_svg(wave_figure, "en")
    assert ">位置</text>" in render_svg(wave_figure, "zh")


def test_placeholder_colors_are_replaced_by_theme_colors():
    svg = render_svg(wave_figure, "en")
    for property in ("currentColor", "var(--figure-first)", "var(--key)", "var(--query)"):
        assert property in svg
    assert not re.findall("#0[0-9]0[0-9]0[0-9]", svg)


def test_muted_text_has_more_contrast_than_muted_lines():
    @style.figure(en={}, zh={})
    def muted_figure(label):
        fig, ax = diagram.blank_canvas(60)
        diagram.line(ax, (0, 10), (50, 10), color=style.MUTED)
        diagram.write(ax, 25, 30, "aside", style.MUTED)
        return fig

    svg = render_svg(muted_figure, "en")
    (word,) = re.findall("<text [^>]*>", svg)
    assert "var(--quiet)" in word and "var(--figure-muted)" not in word
    assert "stroke: var(--figure-muted)" in svg


def test_a_figure_changes_nothing_outside_of_itself():
    svg = render_svg(wave_figure, "en")
    assert "<style" not in svg
    assert "<metadata" not in svg
    assert "font-family" not in svg
    assert not re.search(r"^\s*$", svg.strip(), re.M), "a blank line would end the HTML block"
    ids = re.findall(r' id="([^"]+)"', svg)
    references = re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", svg)
    assert {one or other for one, other in references} == set(ids)
    assert len(ids) == len(set(ids))


def test_two_figures_of_one_page_share_no_id():
    def copied_figure(label):
        return wave_figure(label)

    copied_figure.labels = wave_figure.labels
    ids = [
        set(re.findall(r' id="([^"]+)"', render_svg(each, "en")))
        for each in (wave_figure, copied_figure)
    ]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_labels_in_only_one_language_are_rejected():
    with pytest.raises(ValueError, match="labels in one language only: y"):
        style.figure(en={"x": "a"}, zh={"x": "甲", "y": "乙"})


def test_a_signed_image_is_transparent_at_zero():
    _, ax = style.canvas()
    style.signed_image(ax, [[-1.0, 0.0, 2.0]], largest=2)
    (image,) = ax.images
    pixels = image.get_array()
    assert pixels[0, :, 3].tolist() == [0.5, 0, 1]
    assert tuple(pixels[0, 0, :3]) == style.NEGATIVE
    assert tuple(pixels[0, 2, :3]) == style.POSITIVE


def test_an_image_is_stored_with_a_palette_and_keeps_its_pixels():
    @style.figure(en={}, zh={})
    def waves(label):
        fig, ax = style.canvas()
        style.signed_image(ax, np.sin(np.arange(2400) / 7).round(1).reshape(40, 60))
        return fig

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(svg, "to_palette_image", lambda image: image[1])
        before = image_pixels(render_svg(waves, "en"))
    after = image_pixels(render_svg(waves, "en"))
    assert before[0] == "RGBA" and after[0] == "P"
    assert np.array_equal(before[1], after[1])
    assert after[2] < before[2] * 0.75


def image_pixels(svg: str) -> tuple[str, np.ndarray, int]:
    """The mode of the figure's image, its pixels, and its size in bytes."""
    (data,) = re.findall(r'base64,\s*([^"]+)"', svg)
    with Image.open(BytesIO(base64.b64decode(data))) as image:
        return image.mode, np.asarray(image.convert("RGBA")), len(data)


def test_coordinates_are_rounded_and_labels_are_not():
    @style.figure(en={"x": "0.0001 of it"}, zh={"x": "万分之一（0.0001）"})
    def precise(label):
        fig, ax = style.canvas()
        ax.plot([0, 1, 3])
        ax.set_xlabel(label["x"])
        return fig

    svg = render_svg(precise, "en")
    assert ">0.0001 of it</text>" in svg
    assert not re.search(r"\d\.\d{3}", svg.replace("0.0001 of it", ""))
    assert not re.search(r' d="[^"]*\d\.\d\d', svg)


@pytest.mark.parametrize(
    ("path", "short"),
    [
        (
            "M 1 2 L 3.04 4.96 L 3 5 z",
            "M1 2l2 3z",
        ),  # the last but one point is left out: it is close to the last
        ("M 1 2 L 9 2 L 9 2.5 L 8.5 2.4", "M1 2h8v.5l-.5-.1"),
        ("M 0 0 L 1 1 L 2 -1 C 1 2 3 4 5 6 Q 5 5 4 4", "M0 0l1 1 1-2c-1 3 1 5 3 7q0-1-1-2"),
        ("M 5 5 L 6 6 z L 7 7 M 1 1 L 1 1", "M5 5l1 1zl2 2M1 1h0"),
    ],
)
def test_each_step_of_a_path_is_relative_to_the_point_before_it(path, short):
    assert short_path(path) == short


def test_rounding_moves_no_point_by_more_than_half_of_a_tenth():
    xs = np.linspace(0, 30, 400)
    expected_points = np.stack([xs, 7 * np.sin(xs)], axis=1)
    path = "M" + "L".join(f"{x:.6f} {y:.6f} " for x, y in expected_points)
    drawn = np.array(path_points(short_path(path)))
    nearest = np.abs(expected_points[:, None] - drawn).max(axis=2).min(axis=1)
    assert nearest.max() < 0.0501


def path_points(path: str) -> list[tuple[float, float]]:
    """The points of a path of straight lines."""
    x = y = 0.0
    found = []
    for letter, numbers in re.findall("([MLlhvz])([^a-zM]*)", path):
        steps = [float(number) for number in re.findall(r"-?\d*\.?\d+", numbers)]
        if letter in "hv":
            steps = [
                each for step in steps for each in ((step, 0.0) if letter == "h" else (0.0, step))
            ]
        for across, down in zip(steps[::2], steps[1::2], strict=True):
            x, y = (across, down) if letter == "M" else (x + across, y + down)
            found.append((x, y))
    return found


def test_powers_of_ten_on_an_axis_are_labeled_with_exponents():
    @style.figure(en={}, zh={})
    def powers(label):
        fig, ax = style.canvas()
        ax.set_yscale("log")
        ax.set_yticks([1e-12, 1e-1, 1, 10, 100])
        style.powers_of_ten(ax.yaxis)
        return fig

    labels = re.findall(r">([^<]+)</text>", render_svg(powers, "en"))
    assert [name for name in labels if "." not in name] == ["10⁻¹²", "10⁻¹", "1", "10", "10²"]


def test_the_style_of_a_marker_is_defined_once():
    @style.figure(en={}, zh={})
    def dots(label):
        fig, ax = style.canvas()
        ax.plot(range(50), "o", color=style.FIRST)
        return fig

    svg = render_svg(dots, "en")
    assert svg.count("<use ") >= 50
    assert svg.count("fill: var(--figure-first)") == 1
    assert "<g>" not in svg


def draw_svg(*steps) -> str:
    """The SVG of a canvas after these steps, each a function of diagram.py and its arguments."""

    @style.figure(en={}, zh={})
    def by_hand(label):
        fig, ax = diagram.blank_canvas(100)
        for helper, *arguments in steps:
            helper(ax, *arguments)
        return fig

    return render_svg(by_hand, "en")


def test_an_empty_canvas_has_no_path():
    assert "<path" not in draw_svg()


def test_the_coordinates_of_a_canvas_are_the_units_of_the_svg():
    svg = draw_svg(
        (diagram.line, (10, 20), (510, 20), (510, 90)),
        (diagram.frame, 30, 40, 200, 50, style.INK),
        (diagram.write, 260, 12, "middle"),
    )
    assert 'viewBox="0 0 520 100"' in svg
    assert ' d="M10 20h500v70"' in svg
    assert ' d="M30 40h200v50h-200v-50z"' in svg
    assert re.search(r'text-anchor: middle[^"]*" x="260" y="1\d', svg)
    assert "clip-path" not in svg


@pytest.mark.parametrize(("x", "y"), [(-1, 10), (style.WIDTH - 19, 10), (9, -1), (9, 81)])
def test_a_shape_outside_the_canvas_is_rejected(x, y):
    """The SVG would cut it off."""
    for shape in (diagram.frame, x, y, 20, 20, style.INK), (diagram.grid, x, y, 2, 2, 10):
        with pytest.raises(ValueError, match="a shape is 1 units outside the figure"):
            draw_svg(shape)


@pytest.mark.parametrize(("x", "y"), [(0, 10), (style.WIDTH - 20, 10), (9, 0), (9, 80)])
def test_a_shape_at_the_edge_of_the_canvas_is_drawn(x, y):
    assert "<path" in draw_svg((diagram.frame, x, y, 20, 20, style.INK))


def test_an_arrow_ends_at_its_last_point():
    shaft, head = re.findall(
        r' d="([^"]+)"', draw_svg((diagram.arrow, (10, 20), (10, 80), (90, 80)))
    )
    assert shaft.startswith("M10 20v60h")
    (tip,) = [x for x, y in path_points(head) if y == 80]
    assert 88 <= tip <= 90  # without the width of its edge


def test_a_box_covers_shapes_below_it_and_shows_its_text():
    svg = draw_svg((diagram.box, 10, 10, 80, 30, style.SECOND, "memory"))
    assert svg.index("fill: var(--figure-paper)") < svg.index("fill: var(--figure-second)")
    assert svg.count("<path") == 2
    assert ">memory</text>" in svg


@pytest.mark.parametrize("size", [3, 30])
def test_a_grid_of_any_size_has_two_paths(size):
    causal = np.tril(np.ones((size, size)))
    svg = draw_svg(
        (diagram.fill_cells, 0, 0, causal, 2, style.FIRST),
        (diagram.grid, 0, 0, size, size, 2),
    )
    assert svg.count("<path") == 2


def test_selected_cells_are_filled_and_neighbors_joined():
    selected = np.array([[1, 1, 0, 1], [0, 0, 0, 0]], dtype=bool)
    (path,) = re.findall(
        r' d="([^"]+)"', draw_svg((diagram.fill_cells, 10, 20, selected, 5, style.FIRST))
    )
    assert path == "M10 20h10v5h-10zM25 20h5v5h-5z"


def test_without_selected_cells_there_is_no_path():
    assert "<path" not in draw_svg((diagram.fill_cells, 0, 0, np.zeros((3, 3)), 5, style.FIRST))


def test_grid_labels_are_next_to_their_cells_and_padding_is_colored():
    svg = draw_svg(
        (diagram.label_rows, 50, 30, ["we", diagram.PAD], 20),
        (diagram.label_columns, 50, 30, ["我", diagram.PAD], 20),
    )
    assert len(re.findall(r'text-anchor: end[^"]*" x="44"', svg)) == 2
    assert re.search(r'text-anchor: middle[^"]*" x="60" y="2\d', svg)
    assert svg.count("rotate(-90") == 1
    assert svg.count("fill: var(--figure-first)") == 2


def test_the_shape_and_the_text_of_a_linked_box_are_one_link():
    @style.figure(en={}, zh={})
    def linked_figure(label):
        fig, ax = diagram.blank_canvas(60)
        for y, url in ((5, "masks.md#both"), (35, "data.md")):
            diagram.frame(ax, 5, y, 90, 20, style.FIRST, url=url)
            diagram.write(ax, 50, y + 10, url, url=url, zorder=1)
        return fig

    links = re.findall(r'<a xlink:href="([^"]*)">(.*?)</a>', render_svg(linked_figure, "en"), re.S)
    assert [url for url, _ in links] == ["masks.md#both", "data.md"]
    assert all("<path" in content and "<text" in content for _, content in links)
