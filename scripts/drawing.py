"""How every figure of the book is drawn: one size, one palette, one way out.

A figure is a function in scripts/figures/<chapter>.py:

    @figure(en={"x": "position"}, zh={"x": "位置"})
    def heat_map(label):
        fig, ax = canvas(height=240)
        ax.set_xlabel(label["x"])
        return fig

Colours are the constants below. In the SVG each becomes a custom property of
the page's style sheet, so one file serves light and dark. What is no plot is
drawn with the boxes, arrows and grids of scripts/sketch.py.
"""

import base64
import hashlib
import math
import re
import warnings
from collections.abc import Callable
from io import BytesIO, StringIO
from typing import Any

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from PIL import Image

LANGUAGES = ("en", "zh")
WIDTH = 520  # units of the SVG; on a phone a unit is about 0.7 pixels

INK = "#010101"  # text and axes
MUTED = "#020202"  # grid, secondary lines
PAPER = "#030303"  # the page itself
QUERY = "#040404"
KEY = "#050505"
VALUE = "#060606"
FIRST = "#070707"  # the first, second and third series of a plot
SECOND = "#080808"
THIRD = "#090909"
PROPERTIES = {
    INK: "currentColor",
    MUTED: "var(--figure-muted)",
    PAPER: "var(--figure-paper)",
    QUERY: "var(--query)",
    KEY: "var(--key)",
    VALUE: "var(--value)",
    FIRST: "var(--figure-first)",
    SECOND: "var(--figure-second)",
    THIRD: "var(--figure-third)",
}
# Signed images are transparent at zero and grow towards these two, so that
# they lie well on a light and on a dark page.
POSITIVE = to_rgb("#e8710a")
NEGATIVE = to_rgb("#1a73e8")
SHADES = 64  # more than the eye tells apart, and half the bytes of 256

STYLE: dict = {
    "svg.fonttype": "none",
    "font.size": 13,
    "axes.labelsize": 13,
    "axes.titlesize": 13,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "legend.fontsize": 12,
    "legend.frameon": False,
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": MUTED,
    "grid.linewidth": 0.5,
    "axes.prop_cycle": cycler(color=[FIRST, SECOND, THIRD]),
    "lines.linewidth": 1.8,
    "figure.constrained_layout.use": True,
    "savefig.transparent": True,
}

Draw = Callable[[dict[str, str]], Figure]


def figure(en: dict[str, str], zh: dict[str, str]) -> Callable[[Draw], Draw]:
    """Mark a function as a figure and give it its labels in both languages."""
    if en.keys() != zh.keys():
        alone = ", ".join(sorted(en.keys() ^ zh.keys()))
        raise ValueError(f"labels differ: {alone} is there in one language alone")

    def mark(draw: Draw) -> Draw:
        draw.labels = {"en": en, "zh": zh}  # type: ignore[attr-defined]
        return draw

    return mark


def canvas(height: float = 260, rows: int = 1, columns: int = 1, **options) -> tuple[Figure, Any]:
    """A figure WIDTH units wide, and its axes (an array of them if several)."""
    fig = Figure(figsize=(WIDTH / 72, height / 72))
    return fig, fig.subplots(rows, columns, **options)


def signed_image(ax: Axes, values, largest: float = 1.0, **options) -> None:
    """Draw a matrix as an image: 0 is transparent, +-largest is opaque."""
    values = np.asarray(values, dtype=float)
    image = np.empty((*values.shape, 4))
    image[..., :3] = np.where(values[..., None] > 0, POSITIVE, NEGATIVE)
    image[..., 3] = np.round(np.clip(np.abs(values) / largest, 0, 1) * SHADES) / SHADES
    options.setdefault("aspect", "auto")
    ax.imshow(image, interpolation="none", **options)


def powers_of_ten(axis) -> None:
    """Label a logarithmic axis …, 10⁻², 10⁻¹, 1, 10, 10², …, and leave small ticks out."""
    superscript = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    short = {0: "1", 1: "10"}

    def name(value: float, _) -> str:
        power = round(math.log10(value))
        return short.get(power, f"10{str(power).translate(superscript)}")

    axis.set_major_formatter(name)
    axis.set_minor_locator(NullLocator())


def draw(function: Draw, language: str) -> str:
    """The SVG of a figure in one language; the same input, the same bytes."""
    labels: dict[str, str] = function.labels[language]  # type: ignore[attr-defined]
    name = function.__name__
    buffer = StringIO()
    style = STYLE | {"svg.hashsalt": name}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # The reader's own font draws Chinese; Matplotlib's has no glyphs.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        drawn = function(labels)
        if not isinstance(drawn, Figure):
            raise ValueError(f"{name} returns no figure: it ends with return fig")
        drawn.savefig(buffer, format="svg", metadata={"Date": None})
    refuse_cut(drawn, name)
    return themed(buffer.getvalue(), name)


def refuse_cut(drawn: Figure, name: str) -> None:
    """Raises ValueError for a shape that reaches off the figure, where the SVG would cut it."""
    unit = drawn.dpi / 72
    for patch in (each for ax in drawn.axes for each in ax.patches if not each.get_clip_on()):
        box, room = patch.get_window_extent(), drawn.bbox
        over = max(room.x0 - box.x0, box.x1 - room.x1, room.y0 - box.y0, box.y1 - room.y1) / unit
        if over > 0.5:
            raise ValueError(f"{name} has a shape that reaches {over:.0f} units off it, to be cut")


def rounded(text: str, digits: int) -> str:
    """The text with so many decimals at most."""

    def short(number: re.Match[str]) -> str:
        return f"{float(number[0]):.{digits}f}".rstrip("0").rstrip(".")

    return re.sub(r"\d+\.\d+", short, text)


def short_path(path: str) -> str:
    """The same path to a tenth of a unit, each step told from the point before it."""

    def tenth(number: int) -> str:
        return re.sub(r"^(-?)0\.", r"\1.", f"{number / 10:g}")

    told, last = "", ""
    here = start = [0, 0]  # in tenths
    for letter, numbers in re.findall("([MLCQz])([^MLCQz]*)", path):
        steps = places = [round(10 * float(number)) for number in numbers.split()]
        if letter == "z":
            here = start
        elif letter == "M":
            here = start = places
        else:
            steps = [place - here[i % 2] for i, place in enumerate(places)]
            here = places[-2:]
            letter = letter.lower()
            if letter == "l" and 0 in steps:
                letter, steps = ("h", steps[:1]) if steps[1] == 0 else ("v", steps[1:])
            if last != "M" and not any(steps):
                continue
        # A letter stands for all steps of its kind that follow it.
        told += " " if letter == last else letter
        told += " ".join(map(tenth, steps))
        last = letter
    return told.replace(" -", "-")


def short_tag(tag: str) -> str:
    """The tag with places to a tenth of a unit and all else to a hundredth, which is
    finer than a screen shows."""
    tag = re.sub(r' d="([^"]*)"', lambda path: f' d="{short_path(path[1])}"', tag)
    return re.sub(r' (x|y)="[^"]*"', lambda place: rounded(place[0], 1), rounded(tag, 2))


# What a browser takes for granted.
USUAL = re.compile(r"(?<=[ \"])(?:stroke-linejoin: miter|text-anchor: start)(?:; |(?=\"))")
IMAGE = re.compile(r"(?<=base64,)\s*([\w+/=\s]+)")


def indexed(image: re.Match[str]) -> str:
    """The same picture as a list of colours and a number for each pixel, if that is shorter."""
    data = base64.b64decode(image[1])
    with Image.open(BytesIO(data)) as picture:
        pixels = np.asarray(picture.convert("RGBA"))
    colours, numbers = np.unique(pixels.reshape(-1, 4), axis=0, return_inverse=True)
    if len(colours) <= 256:
        told = Image.fromarray(numbers.reshape(pixels.shape[:2]).astype("uint8"), "P")
        told.putpalette(colours[:, :3].tobytes())
        made = BytesIO()
        told.save(made, "PNG", optimize=True, transparency=colours[:, 3].tobytes())
        data = min(data, made.getvalue(), key=len)
    return base64.b64encode(data).decode()


def lightened(svg: str) -> str:
    """The same picture from fewer elements and bytes."""
    svg = re.sub(r'; (?=")', "", USUAL.sub("", IMAGE.sub(indexed, svg)))
    # what has neither fill nor stroke
    svg = re.sub(r'<path [^>]*style="fill: none(; opacity: [\d.]+)?"/>', "", svg)
    # The style of a marker stands at the marker, not at each of its uses.
    used = set(re.findall(r'<use xlink:href="(#[^"]+)"[^>]*( style="[^"]*")/>', svg))
    for marker, style in used:
        if [other for other, _ in used].count(marker) == 1:
            svg = re.sub(rf'(<use xlink:href="{marker}"[^>]*){re.escape(style)}/>', r"\1/>", svg)
            svg = re.sub(rf'(<path id="{marker[1:]}" d="[^"]*")[^>]*/>', rf"\1{style}/>", svg)
    # groups that say nothing
    kept: list[bool] = []

    def group(tag: re.Match[str]) -> str:
        if tag[0] != "</g>":
            kept.append(tag[0] != "<g>")
            return tag[0] if kept[-1] else ""
        return tag[0] if kept.pop() else ""

    svg = re.sub(r"</?g\b[^>]*>", group, svg.replace("<g/>", ""))
    return re.sub(r"<defs>\s*</defs>", "", svg)


def themed(svg: str, name: str) -> str:
    """Matplotlib's SVG made fit for a page: the theme's colours and fonts,
    ids that are the figure's own, no prolog and no blank line."""
    svg = svg[svg.index("<svg") :]
    # A style element inside the page would style the whole page.
    svg = re.sub(r"<(metadata|style).*?</\1>\s*", "", svg, flags=re.S)
    svg = re.sub(
        r'width="([\d.]+)pt" height="([\d.]+)pt"',
        r'width="\1" height="\2"',
        svg,
        count=1,
    )
    for colour, property in PROPERTIES.items():
        svg = svg.replace(colour, property)
    # Secondary lines may be faint, words may not.
    svg = re.sub(
        r"<text [^>]*>", lambda tag: tag[0].replace(PROPERTIES[MUTED], "var(--quiet)"), svg
    )
    # font: 13px 'DejaVu Sans', ... -> the size alone
    svg = re.sub(r"font: (?:[a-z0-9]+ )*?([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    reference = r'(?<=url\(#)[^)]+|(?<=href="#)[^"]+'
    used = dict.fromkeys(re.findall(reference, svg))
    prefix = f"f{hashlib.sha256(name.encode()).hexdigest()[:6]}"  # XML wants a letter first
    ids = {old: f"{prefix}-{i}" for i, old in enumerate(used)}
    svg = re.sub(reference, lambda old: ids[old[0]], svg)
    svg = re.sub(r' id="([^"]+)"', lambda id: f' id="{ids[id[1]]}"' if id[1] in ids else "", svg)
    svg = re.sub(r' transform="rotate\(-?0 [^)]*\)" ?', "", lightened(svg))
    svg = re.sub(r"<[^>]*>", lambda tag: short_tag(tag[0]), svg)  # not what labels say
    return "\n".join(line.strip() for line in svg.splitlines() if line.strip()) + "\n"
