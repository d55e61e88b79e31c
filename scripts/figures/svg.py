"""Converts a Matplotlib figure to a small SVG with the colors of the page's theme."""

import base64
import hashlib
import math
import re
import warnings
from io import BytesIO, StringIO

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from figures.style import (
    FIRST,
    INK,
    KEY,
    MUTED,
    PAPER,
    QUERY,
    SECOND,
    STYLE,
    THIRD,
    VALUE,
    WEIGHT,
    Draw,
)

PHONE_WIDTH = 382  # of a figure in a window of 390 pixels, without its margins
SMALLEST_TEXT = 11  # pixels
PROPERTIES = {
    INK: "currentColor",
    MUTED: "var(--figure-muted)",
    PAPER: "var(--figure-paper)",
    QUERY: "var(--query)",
    KEY: "var(--key)",
    VALUE: "var(--value)",
    WEIGHT: "var(--weight)",
    FIRST: "var(--figure-first)",
    SECOND: "var(--figure-second)",
    THIRD: "var(--figure-third)",
}


def render_svg(function: Draw, language: str) -> str:
    """The SVG of a figure in one language; deterministic."""
    labels: dict[str, str] = function.labels[language]  # type: ignore[attr-defined]
    name = function.__name__
    buffer = StringIO()
    style = STYLE | {"svg.hashsalt": name}
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # The browser draws Chinese in the reader's font; Matplotlib's has no such glyphs.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        drawn = function(labels)
        if not isinstance(drawn, Figure):
            raise ValueError(f"{name} returns no figure; end it with return fig")
        drawn.savefig(buffer, format="svg", metadata={"Date": None})
    check_clipping(drawn, name)
    svg = apply_theme(buffer.getvalue(), name)
    check_text_size(svg, name)
    return svg


def check_clipping(drawn: Figure, name: str) -> None:
    """Raises ValueError for a shape outside the figure, which the SVG would clip."""
    unit = drawn.dpi / 72
    for patch in (p for ax in drawn.axes for p in ax.patches if not p.get_clip_on()):
        box, limits = patch.get_window_extent(), drawn.bbox
        left, right = limits.x0 - box.x0, box.x1 - limits.x1
        excess = max(left, right, limits.y0 - box.y0, box.y1 - limits.y1) / unit
        if excess > 0.5:
            message = (
                f"a shape is {excess:.0f} units outside the figure; move it or enlarge the figure"
            )
            raise ValueError(f"{name}: {message}")


def check_text_size(svg: str, name: str) -> None:
    """Raises ValueError for a text too small on a phone, where the page shrinks a figure."""
    width = float(svg.split('viewBox="0 0 ', 1)[1].split(" ", 1)[0])
    scale = min(1, PHONE_WIDTH / width)
    size = min(map(float, re.findall(r"font-size: ([\d.]+)px", svg)), default=math.inf)
    if size * scale < SMALLEST_TEXT:
        message = (
            f"a text is {size * scale:.1f} pixels high on a phone; in a figure {width:g} units "
            f"wide, its size must be at least {math.ceil(10 * SMALLEST_TEXT / scale) / 10:g}"
        )
        raise ValueError(f"{name}: {message}")


def round_numbers(text: str, digits: int) -> str:
    """The text with its numbers rounded to a number of decimals."""

    def round_number(number: re.Match[str]) -> str:
        return f"{float(number[0]):.{digits}f}".rstrip("0").rstrip(".")

    return re.sub(r"\d+\.\d+", round_number, text)


def short_path(path: str) -> str:
    """The path in relative coordinates, rounded to a tenth of a unit."""

    def tenth(number: int) -> str:
        return re.sub(r"^(-?)0\.", r"\1.", f"{number / 10:g}")

    result, last = "", ""
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
        # A repeated letter can be omitted.
        result += " " if letter == last else letter
        result += " ".join(map(tenth, steps))
        last = letter
    return result.replace(" -", "-")


def short_tag(tag: str) -> str:
    """The tag with coordinates rounded to a tenth of a unit, other numbers to a hundredth."""
    tag = re.sub(r' d="([^"]*)"', lambda path: f' d="{short_path(path[1])}"', tag)
    return re.sub(
        r' (x|y)="[^"]*"', lambda attribute: round_numbers(attribute[0], 1), round_numbers(tag, 2)
    )


# Properties with their default values.
BROWSER_DEFAULTS = re.compile(
    r"(?<=[ \"])(?:stroke-linejoin: miter|text-anchor: start)(?:; |(?=\"))"
)
IMAGE = re.compile(r"(?<=base64,)\s*([\w+/=\s]+)")


def to_palette_image(image: re.Match[str]) -> str:
    """The image as a palette image if that is smaller, in base64."""
    data = base64.b64decode(image[1])
    with Image.open(BytesIO(data)) as picture:
        pixels = np.asarray(picture.convert("RGBA"))
    colors, numbers = np.unique(pixels.reshape(-1, 4), axis=0, return_inverse=True)
    if len(colors) <= 256:
        palette_image = Image.fromarray(numbers.reshape(pixels.shape[:2]).astype("uint8"), "P")
        palette_image.putpalette(colors[:, :3].tobytes())
        buffer = BytesIO()
        palette_image.save(buffer, "PNG", optimize=True, transparency=colors[:, 3].tobytes())
        data = min(data, buffer.getvalue(), key=len)
    return base64.b64encode(data).decode()


def minify_svg(svg: str) -> str:
    """The SVG without redundant elements and attributes."""
    svg = re.sub(r'; (?=")', "", BROWSER_DEFAULTS.sub("", IMAGE.sub(to_palette_image, svg)))
    # paths without fill and stroke
    svg = re.sub(r'<path [^>]*style="fill: none(; opacity: [\d.]+)?"/>', "", svg)
    # Move the style of a marker from its uses to the marker.
    used = set(re.findall(r'<use xlink:href="(#[^"]+)"[^>]*( style="[^"]*")/>', svg))
    for marker, style in used:
        if [other for other, _ in used].count(marker) == 1:
            svg = re.sub(rf'(<use xlink:href="{marker}"[^>]*){re.escape(style)}/>', r"\1/>", svg)
            svg = re.sub(rf'(<path id="{marker[1:]}" d="[^"]*")[^>]*/>', rf"\1{style}/>", svg)
    # groups without attributes
    kept: list[bool] = []

    def group(tag: re.Match[str]) -> str:
        if tag[0] != "</g>":
            kept.append(tag[0] != "<g>")
            return tag[0] if kept[-1] else ""
        return tag[0] if kept.pop() else ""

    svg = re.sub(r"</?g\b[^>]*>", group, svg.replace("<g/>", ""))
    return re.sub(r"<defs>\s*</defs>", "", svg)


LINK_PARTS = re.compile(r"(<a [^>]*>)((?:(?!</a>).)*)</a>\s*\1", re.S)


def join_links(svg: str) -> str:
    """The SVG with one link where Matplotlib makes one for each shape and text."""
    svg = re.sub(r'(<a [^>]*) target="_blank"', r"\1", svg)
    joined = LINK_PARTS.sub(r"\1\2", svg)
    return joined if joined == svg else join_links(joined)


def apply_theme(svg: str, name: str) -> str:
    """Matplotlib's SVG made fit for a page: the theme's colors and fonts,
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
    for color, property in PROPERTIES.items():
        svg = svg.replace(color, property)
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
    svg = re.sub(r' transform="rotate\(-?0 [^)]*\)" ?', "", join_links(minify_svg(svg)))
    svg = re.sub(r"<[^>]*>", lambda tag: short_tag(tag[0]), svg)  # not what labels say
    return "\n".join(line.strip() for line in svg.splitlines() if line.strip()) + "\n"
