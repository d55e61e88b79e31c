"""Every page in a real browser, in one visit with JavaScript and one without.

With JavaScript: no errors and no overflow, wide and narrow; texts of figures are legible on a
phone; every letter of a formula has its font; each copy button copies its code; axe finds nothing,
in light and dark colors. Without: all content is visible.

The Chinese pages have the same templates, styles and code, so without --all they are not visited
without JavaScript, axe doesn't check them, and their buttons are not tried.
"""

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from playwright.sync_api import Page

from bookbuild.generated import claims
from bookbuild.mkdocs_site import formulas
from bookbuild.pages.page import SourcePage, list_pages
from bookbuild.pages.paths import LANGUAGES
from browser_pages import BASE_URL, TEXT_RULES, axe_errors, expand_page, wait_until_idle
from built_pages import (
    BuiltPage,
    assert_no_errors,
    lab_outputs,
    load_page,
    page_code_blocks,
    text_with_quiz,
)
from page_parts import find_parts

WIDTHS = 390, 1280
PAGES = [page for language in LANGUAGES for page in list_pages(language)]
parametrize_page = pytest.mark.parametrize("source", PAGES, ids=lambda page: str(page.display_path))

# Elements beyond the right edge; those inside a scrolling element may be.
FIND_OVERFLOW_SCRIPT = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll("body *")]
    .filter((each) => each.getBoundingClientRect().right > width + 1)
    .slice(0, 5)
    .map((each) => each.outerHTML.slice(0, 120));
}"""

# Texts of figures that are lower than 11 pixels.
FIND_SMALL_TEXTS_SCRIPT = """() =>
  [...document.querySelectorAll(".figure svg text")]
    .filter((each) => each.getBoundingClientRect().width)
    .map((each) => {
      const { a, b } = each.getScreenCTM();
      return [parseFloat(getComputedStyle(each).fontSize) * Math.hypot(a, b), each.textContent];
    })
    .filter(([size]) => size < 10.95)
    .slice(0, 3)
    .map(([size, text]) => `${text}, ${size.toFixed(1)} px`)"""

# The letters of formulas, by the font in which they are drawn: family, style, weight.
LETTERS_BY_FONT_SCRIPT = """() => {
  const letters = {};
  for (const each of document.querySelectorAll(".katex-html, .katex-html *")) {
    const text = [...each.childNodes].filter((child) => child.nodeType === 3);
    if (!text.length) continue;
    const style = getComputedStyle(each);
    const font = [style.fontFamily.split(",")[0], style.fontStyle, style.fontWeight].join();
    letters[font] = (letters[font] ?? "") + text.map((child) => child.data).join("");
  }
  return letters;
}"""
FONT_STYLES = {
    "normal,400": "Regular",
    "normal,700": "Bold",
    "italic,400": "Italic",
    "italic,700": "BoldItalic",
}

# The text that each button would copy. The real clipboard takes seconds a block; test_reading.py
# uses it.
COPY_ALL_SCRIPT = """(buttons) => {
  const copies = [];
  document.execCommand = () => copies.push(document.activeElement.value);
  window.restoreCode?.();
  for (const button of buttons) button.click();
  return copies;
}"""

# Removes content that axe would check for minutes: all but some formulas, the parts of figures that
# are one image to a screen reader, and blocks of code whose colors all occur in earlier blocks.
REMOVE_REPEATED_CONTENT_SCRIPT = """() => {
  const formulas = document.querySelectorAll(".katex:not(th .katex, :has([style*=color]))");
  [...formulas].slice(20).forEach((each) => each.remove());
  document.querySelectorAll("svg[role=img] > *").forEach((each) => each.remove());
  const seen = new Set();
  const removed = [];
  for (const code of document.querySelectorAll("article pre > code")) {
    const colors = [...code.querySelectorAll("*")].map((each) => each.className);
    if (colors.every((color) => seen.has(color))) {
      removed.push([code, [...code.childNodes]]);
      code.textContent = "";
    }
    for (const color of colors) seen.add(color);
  }
  window.restoreCode = () => removed.forEach(([code, nodes]) => code.append(...nodes));
}"""

# For each selector, how many elements it matches, and whether up to three of them are invisible;
# those in details may be.
COUNT_ELEMENTS_SCRIPT = """(selectors) => selectors.map((selector) => {
  const all = [...document.querySelectorAll(selector)];
  const invisible = all.filter((each) => !each.closest("details")).slice(0, 3).filter((each) => {
    const box = each.getBoundingClientRect();
    return box.width < 1 || box.height < 1;
  });
  return [all.length, invisible.length];
})"""


@pytest.fixture(scope="module")
def checked_styles() -> set[str]:
    """The styles of text and background that have enough contrast."""
    return set()


@pytest.fixture
def thorough(source: SourcePage, everything: bool) -> bool:
    return everything or source.language == "en"


@pytest.mark.parametrize("width", [min(WIDTHS)])
@parametrize_page
def test_page_is_complete_and_has_no_errors(checked_page, source, site, checked_styles, thorough):
    page = load_page(site, source)
    checked_page.goto(BASE_URL + page.url)
    expand_page(checked_page, scroll=thorough)
    wait_until_idle(checked_page)
    fonts = site / ("zh" if source.language == "zh" else "") / "assets/fonts"
    errors = [*missing_glyphs(checked_page.evaluate(LETTERS_BY_FONT_SCRIPT), fonts)]
    small_texts = checked_page.evaluate(FIND_SMALL_TEXTS_SCRIPT)
    errors += (f"text too small on a phone: {text}" for text in small_texts)
    errors += overflow_errors(checked_page)
    if thorough:
        errors += accessibility_errors(checked_page, checked_styles)
        if not source.is_notebook:
            errors += copy_button_errors(checked_page, page)
    assert_no_errors(dict.fromkeys(errors))


@pytest.mark.parametrize("width", [min(WIDTHS)])
@parametrize_page
def test_page_is_complete_without_javascript(no_javascript_page, source, site, thorough):
    if thorough:
        no_javascript_page.goto(BASE_URL + load_page(site, source).url)
        assert_no_errors(dict.fromkeys(no_javascript_errors(no_javascript_page, source)))


@functools.cache
def font_characters(font: Path) -> set[str]:
    return {chr(code) for code in TTFont(font).getBestCmap()}


def missing_glyphs(letters: dict[str, str], font_folder: Path) -> Iterator[str]:
    """Missing fonts, and letters that KaTeX's fonts have but the published subsets lack."""
    for font, text in letters.items():
        family, _, style = font.partition(",")
        name = f"{family}-{FONT_STYLES[style]}"
        subset, full = font_folder / f"{name}.woff2", formulas.KATEX / f"fonts/{name}.ttf"
        if not subset.exists():
            yield f"no font {name}"
        elif lost := {*text} & font_characters(full) - font_characters(subset):
            yield f"{name} has no {lost}"


def overflow_errors(page: Page) -> Iterator[str]:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        for element in page.evaluate(FIND_OVERFLOW_SCRIPT):
            yield f"beyond the edge at {width} px: {element}"


def copy_button_errors(page: Page, built: BuiltPage) -> Iterator[str]:
    blocks = [*page_code_blocks(built)]
    buttons = page.locator("article .md-code__button[data-clipboard-target]")
    copies = buttons.evaluate_all(COPY_ALL_SCRIPT)
    if len(copies) != len(blocks):
        yield f"{len(copies)} copies of {len(blocks)} blocks"
    for block, copy in zip(blocks, copies, strict=False):
        if copy != block.code:
            yield f"{block} gives\n{copy}"


def accessibility_errors(page: Page, checked_styles: set[str]) -> Iterator[str]:
    """The violations that axe finds; texts also in dark colors, each style on one page."""
    page.evaluate(REMOVE_REPEATED_CONTENT_SCRIPT)
    for scheme, rules in (("default", ()), ("slate", TEXT_RULES)):
        color_scheme = "dark" if scheme == "slate" else "light"
        page.emulate_media(color_scheme=color_scheme, reduced_motion="reduce")
        page.locator(f"body[data-md-color-scheme={scheme}]").wait_for()
        errors = axe_errors(page, rules=rules, checked_styles=checked_styles)
        yield from (f"{color_scheme}: {error}" for error in errors)


def no_javascript_errors(page: Page, source: SourcePage) -> Iterator[str]:
    """Elements that are missing or invisible without JavaScript."""
    text = text_with_quiz(source)
    anchors = [part for part in find_parts("heading", text) if "#" in part.value[2:]]
    listed = claims.claims_pages(source.language).get(source, [])  # a heading for each
    outputs = lab_outputs(source.path.stem) if source.is_notebook else []
    text_outputs = [kind for cell in outputs for kind, _ in cell if kind == "text"]
    article = ".md-content article"
    expected = {
        f"{article} :is(h2, h3, h4)[id]:not(#__comments)": len(anchors) + len(listed),
        f"{article} .katex-html": len(find_parts("displayed formula", text))
        + len(find_parts("formula", text)),
        f"{article} .figure svg": len(find_parts("figure", text)),
        f"{article} pre > code": len(find_parts("code block", text)) + len(text_outputs),
        ".md-footer__link": None,
    }
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        found = page.evaluate(COUNT_ELEMENTS_SCRIPT, [*expected])
        for (selector, number), (count, invisible) in zip(expected.items(), found, strict=True):
            if number not in (count, None):
                yield f"{count} of {number} {selector}"
            if invisible:
                yield f"{selector} is invisible at {width} px"
