"""Render formulas with KaTeX at build time, in one Node process for all pages of a build."""

import functools
import html
import io
import json
import logging
import os
import re
from collections.abc import Iterable
from pathlib import Path

from bookbuild.check.arithmetic import equations
from bookbuild.generated import quizzes
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.node import NodeProcess
from bookbuild.pages.page import SourcePage
from bookbuild.pages.values import source_link

# A formula as pymdownx.arithmatex (generic) writes it, and the punctuation next to it.
FORMULA = re.compile(
    r"(?P<before>[(（「《“]*)"
    r'<(?P<tag>span|div) class="arithmatex">'
    r"\\(?P<kind>[(\[])(?P<tex>.*?)\\[)\]]</(?P=tag)>"
    r"(?P<after>[,.;:!?)，。；：、！？）」》”]*)",
    re.S,
)
Formula = tuple[str, bool]  # the TeX, and whether it is displayed on its own line
ARITHMETIC_TEST = "tests/site/test_numbers.py"
KATEX = paths.ROOT / "node_modules/katex/dist"
RENDERER = Path(__file__).with_name("render_formulas.mjs")
MAX_UNBROKEN = 24  # characters of TeX; a formula this short fits in a line of any screen
logging.getLogger("fontTools").setLevel(logging.ERROR)  # it warns about the dates in KaTeX's fonts


def find_formulas(page: str) -> list[Formula]:
    """The formulas in a page's HTML."""
    return [parse_formula(match) for match in FORMULA.finditer(page)]


def parse_formula(match: re.Match[str]) -> Formula:
    return html.unescape(match["tex"]).strip(), match["kind"] == "["


@functools.cache
def katex_process(process_id: int) -> NodeProcess:
    """The process that renders the formulas for this process; a fork has its own."""
    return NodeProcess(RENDERER)


def render_formulas(formulas: list[Formula]) -> dict[Formula, str]:
    """The HTML of each formula. Raises ValueError(tex, reason) for the first invalid one."""
    rendered = {}
    output = katex_process(os.getpid()).answer(json.dumps(formulas))
    for formula, result in zip(formulas, json.loads(output), strict=True):
        if "error" in result:
            raise ValueError(formula[0], result["error"])
        rendered[formula] = minify_html(result["html"])
    return rendered


# KaTeX's classes for which its style sheet has no rule.
UNSTYLED = "m(?:ord|op|bin|rel|open|close|punct|inner)"
# Layout attributes of MathML, which is not drawn: it is for screen readers.
LAYOUT_ATTRIBUTES = (
    "stretchy|(?:min|max)size|[lr]space|columnalign|(?:row|column)spacing|displaystyle|scriptlevel"
    "|width|height|depth|voffset|movablelimits"
)
STRUT = re.compile(
    r'<span class="katex-strut" style="height:([\d.]+)em;(?:vertical-align:-([\d.]+)em;)?"></span>'
)


def exceeds_line_height(strut: re.Match[str]) -> bool:
    """Whether a strut is higher or deeper than a line of KaTeX, 1.2 times the font size."""
    height, depth = float(strut[1]), float(strut[2] or 0)
    return height - depth > 0.85 or depth > 0.25


def minify_html(markup: str) -> str:
    """A formula's HTML without what neither a browser nor a screen reader uses."""
    markup = re.sub(r"<annotation.*?</annotation>|</?semantics>", "", markup, flags=re.S)
    markup = markup.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
    layout = re.compile(rf' (?:{LAYOUT_ATTRIBUTES})="[^"]*"')
    markup = re.sub("<math.*</math>", lambda math: layout.sub("", math[0]), markup, flags=re.S)
    markup = re.sub(rf'class="{UNSTYLED} (math|delim)', r'class="\1', markup.replace(" mtight", ""))
    # A strut is needed only where it exceeds the height of the line.
    markup = STRUT.sub(lambda strut: strut[0] if exceeds_line_height(strut) else "", markup)
    # A letter needs no element of its own, except after a pstrut, in a vertical list.
    letter = rf'(class="pstrut"[^>]*></span>)?<span class="{UNSTYLED}">([^<]*)</span>'
    return re.sub(letter, lambda match: match[0] if match[1] else match[2], markup)


def replace_formulas(page: str, rendered: dict[Formula, str], repository: str = "") -> str:
    """The page's HTML with its formulas rendered, each between two comments, one with its TeX.

    Each equation between numbers links to the test that computes it if there is a repository,
    except in a summary, which is a control itself.
    """

    summaries = [each.span() for each in re.finditer("<summary.*?</summary>", page, re.S)]

    def replace(match: re.Match[str]) -> str:
        tex, display = parse_formula(match)
        markup = rendered[tex, display]
        in_summary = any(start < match.start() < end for start, end in summaries)
        if repository and equations(tex) and not in_summary:
            markup = source_link(markup, ARITHMETIC_TEST, repository)
        if display:
            markup = f'<div class="formula" tabindex="0">{markup}</div>'
        markup = f"<!--tex:{match['tex']}-->{markup}<!--tex-->"
        with_punctuation = f"{match['before']}{markup}{match['after']}"
        # A browser allows a line break on both sides of a formula, even before a full stop.
        keep = with_punctuation != markup and not display and len(tex) <= MAX_UNBROKEN
        return f'<span class="nowrap">{with_punctuation}</span>' if keep else with_punctuation

    return FORMULA.sub(replace, page)


def rendered_formulas(page: str) -> list[str]:
    """The HTML of the formulas of a page."""
    parts = (part.partition("-->")[2] for part in page.split("<!--tex:")[1:])
    return [part.partition("<!--tex-->")[0] for part in parts]


def formulas_as_text(page: str) -> str:
    """The page's HTML with its formulas as a search shows them: TeX without commands, or …"""
    pattern = r"<!--tex:(.*?)-->.*?<!--tex-->"
    return re.sub(pattern, lambda each: "…" if "\\" in each[1] else each[1], page, flags=re.S)


def remove_comments(page: str) -> str:
    """The page's HTML without the comments with TeX."""
    return re.sub("<!--tex.*?-->", "", page, flags=re.S)


def formula_error(page: SourcePage, tex: str, reason: str) -> SourceError:
    """An error at a formula of a page or of its quiz, which is found by its first line."""
    message = f"{reason}; katex.org/docs/supported.html lists what there is"
    return quizzes.error_at_text(page, tex.splitlines()[0], message)


def style_sheet(rendered: Iterable[str]) -> tuple[str, dict[str, bytes]]:
    """KaTeX's style sheet with only the rules that these formulas need, and its fonts by name.

    The fonts have only the characters of the formulas.
    """
    markup = "".join(rendered)
    used = {name for names in re.findall(r'class="([^"]*)"', markup) for name in names.split()}
    css = (KATEX / "katex.min.css").read_text(encoding="utf-8")
    rules = []
    for selectors, style in re.findall(r"([^{}]+){([^}]*)}", re.sub(r"@font-face{[^}]*}", "", css)):
        needed = [
            each
            for each in selectors.split(",")
            if used.issuperset(re.findall(r"\.([a-z][\w-]*)", re.sub(r":not\([^)]*\)", "", each)))
        ]
        if needed:
            rules.append(f"{','.join(needed)}{{{style}}}")
    text = html.unescape(re.sub("<math.*?</math>|<[^>]+>", "", markup, flags=re.S))
    used_fonts = [font_of(rule) for rule in rules if "font" in rule]
    fonts, faces = {}, []
    for face in re.findall(r"@font-face{[^}]*}", css):
        if font_of(face) in used_fonts:
            (name,) = re.findall(r"url\(fonts/([\w-]+)\.ttf\)", face)
            fonts[f"{name}.woff2"] = subset_font(KATEX / f"fonts/{name}.ttf", text)
            source = f'src:url(fonts/{name}.woff2) format("woff2")}}'
            faces.append(re.sub(r"src:.*}", source, face))
    return "\n".join(faces + rules), fonts


def font_of(rule: str) -> dict[str, str]:
    """Family, style and weight of the font that a rule of the style sheet sets."""
    default = {"family": "KaTeX_Main", "style": "normal", "weight": "400"}
    return default | dict(re.findall(r'font-(family|style|weight):"?(\w+)', rule))


def subset_font(font: Path, text: str) -> bytes:
    """A font with only the characters of the text and without hinting, in reproducible bytes."""
    from fontTools import subset  # half a second, which a server saves while no formula changes

    options = subset.Options(flavor="woff2", recalc_timestamp=False, hinting=False)
    reader = subset.load_font(str(font), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=text)
    subsetter.subset(reader)
    output = io.BytesIO()
    subset.save_font(reader, output, options)
    return output.getvalue()
