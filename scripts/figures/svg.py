"""Turns a Matplotlib figure into a small SVG that the page's theme colors."""

import base64
import hashlib
import re
import warnings
from io import BytesIO, StringIO

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from figures.style import FIRST, INK, KEY, MUTED, PAPER, QUERY, SECOND, STYLE, THIRD, VALUE, Draw

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


def render_svg(function: Draw, language: str) -> str:
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
    check_clipping(drawn, name)
    return apply_theme(buffer.getvalue(), name)


def check_clipping(drawn: Figure, name: str) -> None:
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
BROWSER_DEFAULTS = re.compile(
    r"(?<=[ \"])(?:stroke-linejoin: miter|text-anchor: start)(?:; |(?=\"))"
)
IMAGE = re.compile(r"(?<=base64,)\s*([\w+/=\s]+)")


def to_palette_image(image: re.Match[str]) -> str:
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


def minify_svg(svg: str) -> str:
    """The same picture from fewer elements and bytes."""
    svg = re.sub(r'; (?=")', "", BROWSER_DEFAULTS.sub("", IMAGE.sub(to_palette_image, svg)))
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


def apply_theme(svg: str, name: str) -> str:
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
    svg = re.sub(r' transform="rotate\(-?0 [^)]*\)" ?', "", minify_svg(svg))
    svg = re.sub(r"<[^>]*>", lambda tag: short_tag(tag[0]), svg)  # not what labels say
    return "\n".join(line.strip() for line in svg.splitlines() if line.strip()) + "\n"
