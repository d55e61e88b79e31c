"""Every page in a real browser, wide and narrow, with and without JavaScript."""

import functools
from collections.abc import Iterator
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from playwright.sync_api import Browser

from all_pages import address, every_page, open_everything
from bookbuild.check import translation
from bookbuild.mkdocs_site import formulas
from bookbuild.pages.page import SourcePage, list_pages
from built_pages import expect_none, with_quiz
from conftest import settle, watch

# What sticks out, each with its right edge; what scrolls inside something else may.
STICKS_OUT = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll("body *")]
    .filter((each) => each.getBoundingClientRect().right > width + 1)
    .slice(0, 5)
    .map((each) => each.outerHTML.slice(0, 120));
}"""


# The letters of formulas, by the font in which they are drawn: family, style, weight.
LETTERS = """() => {
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
STYLES = {
    "normal,400": "Regular",
    "normal,700": "Bold",
    "italic,400": "Italic",
    "italic,700": "BoldItalic",
}


@functools.cache
def characters(font: Path) -> set[str]:
    return {chr(code) for code in TTFont(font).getBestCmap()}


def missing(letters: dict[str, str], published: Path) -> Iterator[str]:
    """The fonts that aren't published, and the letters that KaTeX's fonts have and ours don't."""
    for font, text in letters.items():
        family, _, style = font.partition(",")
        name = f"{family}-{STYLES[style]}"
        ours, whole = published / f"{name}.woff2", formulas.katex_file(f"fonts/{name}.ttf")
        if not ours.exists():
            yield f"no font {name}"
        elif lost := {*text} & characters(whole) - characters(ours):
            yield f"{name} has no {lost}"


WIDTHS = 1280, 390
opened_once = pytest.mark.parametrize("width", [1280])  # and made narrow: half the time


@every_page
@opened_once
def test_nothing_sticks_out_or_fails(reader, url, site):
    reader.goto(address(url))
    open_everything(reader)
    settle(reader)
    language = "zh/" if url.startswith("zh/") else ""
    expect_none(missing(reader.evaluate(LETTERS), site / language / "assets/fonts"))
    for width in WIDTHS:
        reader.set_viewport_size({"width": width, "height": 844})
        expect_none(f"{width} px: {what}" for what in reader.evaluate(STICKS_OUT))


@pytest.fixture
def plain(browser: Browser):
    """A browser's page without JavaScript."""
    context = browser.new_context(
        java_script_enabled=False, viewport={"width": WIDTHS[0], "height": 844}
    )
    page = context.new_page()
    faults: list[str] = []
    watch(page, faults)
    yield page
    context.close()
    expect_none(faults)


@every_page
def test_all_is_there_without_javascript(plain, url):
    plain.goto(address(url))
    language, name = ("zh", url[3:]) if url.startswith("zh/") else ("en", url)
    text = with_quiz(SourcePage(language, f"{name.strip('/') or 'index'}.md"))
    article = plain.locator(".md-content article")
    faults = []

    shown = []

    def seen(what: str, selector: str, wanted: int) -> None:
        """So many of these; those that aren't folded away are to be drawn."""
        found = article.locator(selector)
        if found.count() != wanted:
            faults.append(f"{found.count()} of {wanted} {what}")
        shown.extend((what, one) for one in article.locator(f"{selector}:not(details *)").all()[:3])

    anchors = [part for part in translation.headings(text) if "#" in part.value[2:]]
    seen("headings", ":is(h2, h3, h4)[id]:not(#__comments)", len(anchors))
    seen(
        "formulas", ".katex-html", len(translation.displayed(text)) + len(translation.inline(text))
    )
    seen("figures", ".figure svg", len(translation.figures(text)))
    seen("blocks of code", "pre > code", len(translation.code_blocks(text)))
    if plain.locator("main a[href], nav a[href]").count() < len(list_pages(language)):
        faults.append("links of the navigation are missing")
    shown += [("links to the next page", link) for link in plain.locator(".md-footer__link").all()]
    for width in WIDTHS:
        plain.set_viewport_size({"width": width, "height": 844})
        for what, one in shown:
            box = one.bounding_box()
            if not box or box["width"] < 1 or box["height"] < 1:
                faults.append(f"one of the {what} isn't to be seen at {width} px")
    expect_none(f"/{url}: {fault}" for fault in faults)
