"""Formulas by KaTeX at build time: one Node process for all of a build's pages,
and none for what an earlier build has rendered.
"""

import contextlib
import functools
import hashlib
import html
import io
import json
import logging
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from fontTools import subset

from bookbuild.pages import paths
from bookbuild.pages.errors import SetupError
from bookbuild.pages.files import write_file
from bookbuild.pages.node import node_executable

# What pymdownx.arithmatex (generic) leaves in a page, and the punctuation that touches it.
FORMULA = re.compile(
    r"(?P<before>[(（「《“]*)"
    r'<(?P<tag>span|div) class="arithmatex">'
    r"\\(?P<kind>[(\[])(?P<tex>.*?)\\[)\]]</(?P=tag)>"
    r"(?P<after>[,.;:!?)，。；：、！？）」》”]*)",
    re.S,
)
RENDERER = Path(__file__).with_name("render_formulas.mjs")
SHORT = 24  # characters of TeX that any screen has room for in one line
CACHE = paths.GENERATED / "formulas.json"
logging.getLogger("fontTools").setLevel(logging.ERROR)  # it warns of KaTeX's fonts' dates


def version() -> str:
    """Changes with KaTeX and with how we call it."""
    digest = hashlib.sha256()
    for path in (paths.ROOT / "package-lock.json", RENDERER, Path(__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def find_formulas(page: str) -> list[tuple[str, bool]]:
    """The formulas of a page's HTML: what TeX, and whether on its own line."""
    return [formula(match) for match in FORMULA.finditer(page)]


def formula(match: re.Match[str]) -> tuple[str, bool]:
    return html.unescape(match["tex"]).strip(), match["kind"] == "["


def render_formulas(formulas: set[tuple[str, bool]]) -> dict[tuple[str, bool], str]:
    """HTML for each. Raises ValueError(tex, reason) for the first broken one."""
    cache = {"version": version()}
    if CACHE.exists():
        with contextlib.suppress(ValueError):  # damaged: then all are rendered anew
            stored = json.loads(CACHE.read_text(encoding="utf-8"))
            if stored.get("version") == cache["version"]:
                cache = stored

    def name(formula: tuple[str, bool]) -> str:
        return ("display " if formula[1] else "inline ") + formula[0]

    missing = sorted(formula for formula in formulas if name(formula) not in cache)
    if missing:
        request = [{"tex": tex, "display": display} for tex, display in missing]
        done = subprocess.run(
            [node_executable(), str(RENDERER)],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=paths.ROOT,
        )
        if done.returncode:
            how = "remove node_modules and run scripts/install"
            raise SetupError(f"KaTeX did not run; {how}. Node said:\n{done.stderr}")
        for formula, result in zip(missing, json.loads(done.stdout), strict=True):
            if "error" in result:
                raise ValueError(formula[0], result["error"])
            cache[name(formula)] = minify_html(result["html"])
        write_file(CACHE, json.dumps(cache, ensure_ascii=False, sort_keys=True))
    return {formula: cache[name(formula)] for formula in formulas}


# Classes of KaTeX that its style sheet says nothing about.
PLAIN = "m(?:ord|op|bin|rel|open|close|punct|inner)"
# How MathML is to be drawn; it isn't, it's for screen readers.
DRAWN = (
    "stretchy|(?:min|max)size|[lr]space|columnalign|(?:row|column)spacing|displaystyle|scriptlevel"
    "|width|height|depth|voffset|movablelimits"
)
STRUT = re.compile(
    r'<span class="katex-strut" style="height:([\d.]+)em;(?:vertical-align:-([\d.]+)em;)?"></span>'
)


def reaches_out(strut: re.Match[str]) -> bool:
    """Is it higher or deeper than KaTeX's line, 1.2 times the size of its letters?"""
    height, depth = float(strut[1]), float(strut[2] or 0)
    return height - depth > 0.85 or depth > 0.25


def minify_html(markup: str) -> str:
    """A formula's HTML without what neither a screen nor a screen reader makes use of."""
    markup = re.sub(r"<annotation.*?</annotation>|</?semantics>", "", markup, flags=re.S)
    markup = markup.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
    drawn = re.compile(rf' (?:{DRAWN})="[^"]*"')
    markup = re.sub("<math.*</math>", lambda math: drawn.sub("", math[0]), markup, flags=re.S)
    markup = re.sub(rf'class="{PLAIN} (math|delim)', r'class="\1', markup.replace(" mtight", ""))
    # What holds a line open is of use only where it reaches out of the line of its letters.
    markup = STRUT.sub(lambda strut: strut[0] if reaches_out(strut) else "", markup)
    # A letter needs no element of its own, except in a pile of several, after their strut.
    letter = rf'(class="pstrut"[^>]*></span>)?<span class="{PLAIN}">([^<]*)</span>'
    return re.sub(letter, lambda found: found[0] if found[1] else found[2], markup)


def replace_formulas(page: str, rendered: dict[tuple[str, bool], str]) -> str:
    """The page's HTML with its formulas rendered."""

    def one(match: re.Match[str]) -> str:
        tex, display = formula(match)
        markup = rendered[tex, display]
        if display:
            markup = f'<div class="formula" tabindex="0">{markup}</div>'
        touched = f"{match['before']}{markup}{match['after']}"
        # A browser breaks the line between a formula and anything, even before a full stop.
        keep = touched != markup and not display and len(tex) <= SHORT
        return f'<span class="unbroken">{touched}</span>' if keep else touched

    return FORMULA.sub(one, page)


def katex_file(name: str) -> Path:
    path = paths.ROOT / "node_modules/katex/dist" / name
    if not path.exists():
        raise SetupError(f"{path.relative_to(paths.ROOT)} isn't there; run scripts/install")
    return path


def style_sheet(rendered: Iterable[str]) -> tuple[str, dict[str, bytes]]:
    """KaTeX's style sheet for these formulas and no others, and the fonts that it names, by name.

    A font keeps what it has of the characters that it may have to draw.
    """
    markup = "".join(rendered)
    used = {name for names in re.findall(r'class="([^"]*)"', markup) for name in names.split()}
    css = katex_file("katex.min.css").read_text(encoding="utf-8")
    faces, rules = re.findall(r"@font-face{[^}]*}", css), []
    for selectors, style in re.findall(r"([^{}]+){([^}]*)}", re.sub(r"@font-face{[^}]*}", "", css)):
        needed = [
            each
            for each in selectors.split(",")
            if used.issuperset(re.findall(r"\.([a-z][\w-]*)", re.sub(r":not\([^)]*\)", "", each)))
        ]
        if needed:
            rules.append(f"{','.join(needed)}{{{style}}}")
    drawn = re.sub(r"<math.*?</math>", "", markup, flags=re.S)
    asking = {face: [rule for rule in rules if is_drawn_in(face, rule)] for face in faces}
    fonts, kept = {}, []
    for face in faces:
        if asking[face]:
            (name,) = re.findall(r"url\(fonts/([\w-]+)\.ttf\)", face)
            others = [rule for other in faces if other != face for rule in asking[other]]
            text = characters(drawn, asking[face], others)
            fonts[f"{name}.woff2"] = subset_font(katex_file(f"fonts/{name}.ttf"), text)
            source = f'src:url(fonts/{name}.woff2) format("woff2")}}'
            kept.append(re.sub(r"src:.*}", source, face))
    return "\n".join(kept + rules), fonts


def is_drawn_in(face: str, rule: str) -> bool:
    """Does a rule of the style sheet ask for this font?"""

    def told(what: str, usual: str) -> str:
        found = re.search(rf"font-{what}:([^;}}]+)", rule)
        return found[1] if found else usual

    family, style, weight = re.findall(r'font-(?:family|style|weight):"?(\w+)', face)
    if rule.startswith(".katex{"):  # font:normal 1.21em KaTeX_Main,…
        return (family, style, weight) == ("KaTeX_Main", "normal", "400")
    asked = told("family", "KaTeX_Main"), told("style", "normal"), told("weight", "400")
    return "font-" in rule and asked == (family, style, weight)


def characters(markup: str, asking: list[str], others: list[str]) -> str:
    """Those that a font may have to draw for which these rules ask, and not the others."""

    def letters(rules: list[str]) -> re.Pattern[str]:
        """The elements of a class, like mathnormal, by which KaTeX sets letters and no more."""
        names = re.findall(r"\.katex \.(\w+)(?=[,{])", "\n".join(rules))
        name = "|".join(names) or r"(?!)"
        return re.compile(rf'<span class="(?:[^"]* )?(?:{name})(?: [^"]*)?"[^>]*>([^<]+)</span>')

    text = letters(asking).findall(markup)
    if not text or any(rule.startswith(".katex{") for rule in asking):  # asked for by all else
        text = [re.sub("<[^>]+>", "", letters(others).sub("", markup))]
    return html.unescape("".join(text))


@functools.lru_cache(maxsize=64)
def subset_font(font: Path, text: str) -> bytes:
    """A font with the characters of the text alone, without hints for screens of few pixels;
    the same input, the same bytes."""
    options = subset.Options(flavor="woff2", recalc_timestamp=False, hinting=False)
    reader = subset.load_font(str(font), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=text)
    subsetter.subset(reader)
    made = io.BytesIO()
    subset.save_font(reader, made, options)
    return made.getvalue()
