"""The built pages: no markup is left, and all parts of the sources are there."""

import gzip
import json
import re
from collections import Counter

from bookbuild.pages.contents import chapter_number
from built_pages import assert_no_errors, text_with_quiz
from html_tree import Element
from page_parts import find_parts

MAX_HTML_BYTES = 58_000  # of a page, compressed; headers and a font take the rest of 60,000
NON_PROSE_TAGS = frozenset({"script", "style", "pre", "code", "math", "svg"})
CHINESE_CHARACTER = re.compile("[\u4e00-\u9fff]")


def test_every_page_of_the_sources_is_built_and_no_other(site, built_pages):
    """In addition to the pages there are only the error pages."""
    assert {*site.rglob("*.html")} == {page.path for page in built_pages} | {
        site / "404.html",
        site / "zh/404.html",
    }


UNRENDERED_MARKUP = "|".join(
    (
        r"--8<--",  # an include
        r"\*\*|\^\^|~~|==|`",
        r"\\[(\[]",  # a formula
        r"\{\{|\}\}",  # a value
        r"\{ *[#.:][\w-]+",  # an attribute list
        r"\[\^[^\]]+\]",  # a footnote
        r"^ *(?:!!!|\?\?\?)",  # a block
        r"!?\[[^\]]*\]\(",  # a link
    )
)


def test_no_markup_shows_in_the_prose(built_pages):
    pattern = re.compile(rf".{{0,30}}(?:{UNRENDERED_MARKUP}).{{0,30}}", re.M)
    assert_no_errors(
        f"{page}: markup that was not rendered: …{found[0].strip()}…"
        for page in built_pages
        for found in pattern.finditer(page.tree.text(NON_PROSE_TAGS))
    )


INLINE_TAGS = frozenset({"a", "abbr", "del", "em", "ins", "span", "strong"})


def prose(element: Element) -> str:
    """The text of a paragraph, with x for quotations, code, formulas, buttons and blocks."""
    text = "".join(
        child
        if isinstance(child, str)
        else prose(child)
        if child.tag in INLINE_TAGS and not {"katex", "md-button"} & {*child.classes}
        else "x"
        for child in element.children
    )
    return re.sub("“[^”]*”", "x", text)


def test_no_space_stands_between_chinese_characters(built_pages):
    """A line break in the source must not become one."""
    chinese = "[\u3001-\u301f\u4e00-\u9fff\uff01-\uff5e]"
    gap = re.compile(rf".{{0,9}}{chinese}\s+(?={chinese}).{{0,9}}", re.S)
    assert_no_errors(
        f"{page}: …{found[0]!r}…"
        for page in built_pages
        if page.source.language == "zh"
        for tag in ("p", "li", "td")
        for paragraph in page.article.find(tag)
        for found in gap.finditer(prose(paragraph))
    )


def test_the_html_of_every_page_is_below_the_size_limit(built_pages):
    sizes = {page: len(gzip.compress(page.path.read_bytes())) for page in built_pages}
    assert_no_errors(
        f"{page}: {size} bytes of HTML compressed, {MAX_HTML_BYTES} at most; split it or draw less"
        for page, size in sizes.items()
        if size > MAX_HTML_BYTES
    )


def test_every_formula_of_the_sources_is_on_its_page(built_pages):
    errors = []
    for page in built_pages:
        source = text_with_quiz(page.source)
        expected = len(find_parts("displayed formula", source)) + len(find_parts("formula", source))
        found = page.article.find("span", "katex")
        if len(found) != expected:
            errors.append(f"{page} has {len(found)} formulas, {page.source.path.name} {expected}")
        errors += [f"{page}: a formula without MathML" for span in found if not span.find("math")]
        errors += [f"{page}: a formula is broken" for _ in page.article.find("", "katex-error")]
    assert_no_errors(errors)


def mostly_chinese(text: str) -> bool:
    """An English text may quote some characters, a Chinese one some words."""
    return 2 * len(CHINESE_CHARACTER.findall(text)) > len(re.findall(r"[A-Za-z]", text))


def test_figures_have_alternative_texts_in_the_language_of_the_page(built_pages):
    errors = []
    for page in built_pages:
        holders = page.article.find("span", "figure")
        if len(holders) != len(find_parts("figure", page.source.text)):
            errors.append(f"{page}: {len(holders)} figures, not as many as in its source")
        for svg in [svg for holder in holders for svg in holder.find("svg")]:
            output = svg.attributes.get("aria-label", "")
            role = "group" if svg.find("a") else "img"  # a screen reader finds no links in an image
            if svg.attributes.get("role") != role or not output.strip():
                errors.append(f"{page}: a figure without role or text")
            elif mostly_chinese(output) != (page.source.language == "zh"):
                errors.append(f"{page}: the text of a figure is in the wrong language: {output}")
            if svg.find("style"):
                errors.append(f"{page}: a style element inside a figure styles the whole page")
    assert_no_errors(errors)


def test_every_page_has_a_title_of_its_own_and_its_description(built_pages):
    titles = Counter(page.tree.find("title")[0].text() for page in built_pages)
    assert titles.most_common(1)[0][1] == 1, titles.most_common(1)
    for page in built_pages:
        assert page.tree.find("html")[0].attributes["lang"] == page.source.language
        assert len(page.tree.find("h1")) == 1, page
        named = {meta.attributes.get("name"): meta.attributes for meta in page.tree.find("meta")}
        assert named["description"]["content"] == page.source.meta["description"], page


# Search engines


def test_every_page_has_its_address_and_that_of_its_translation(built_pages, site_url):
    for page in built_pages:
        name = page.url.removeprefix("zh/")
        english, chinese = site_url + name, f"{site_url}zh/{name}"
        links = [link.attributes for link in page.tree.find("link")]
        canonical = [link["href"] for link in links if link["rel"] == "canonical"]
        assert canonical == [site_url + page.url], page
        found = {link["hreflang"]: link["href"] for link in links if "hreflang" in link}
        assert found == {"en": english, "zh": chinese, "x-default": english}, page


def test_the_sitemaps_list_every_page_once(site, built_pages, site_url):
    for language, path in (("en", site / "sitemap.xml"), ("zh", site / "zh/sitemap.xml")):
        output = re.findall("<loc>(.*?)</loc>", path.read_text())
        expected = [site_url + page.url for page in built_pages if page.source.language == language]
        assert sorted(output) == sorted(expected)


# Search in the page


def test_each_language_has_a_search_of_its_own(site, built_pages):
    for language, folder in (("en", site), ("zh", site / "zh")):
        texts = (folder / "search/texts.json").read_text(encoding="utf-8")
        assert not re.search("minutes to read|分钟。预备知识", texts), "the reading time"
        index = json.loads((folder / "search/search_index.json").read_text(encoding="utf-8"))
        assert len(index["docs"]) == len(json.loads(texts))
        found = {entry["location"].partition("#")[0] for entry in index["docs"]}
        pages = [page for page in built_pages if page.source.language == language]
        # The claims are sentences of other pages.
        names = {page.url.removeprefix("zh/") for page in pages}
        assert found == {name for name in names if not name.startswith("claims-")}


# Chapters

REFERENCE_PAGES = frozenset(
    {"index.md", "proofs.md", "glossary.md", "shapes.md", "step-through.md", "sources.md"}
    | {f"claims-{part}.md" for part in ("model", "training", "variants", "in-depth")}
)


def test_every_chapter_shows_its_reading_time_and_prerequisites_below_its_title(built_pages):
    pattern = re.compile(r"(About|阅读约需) \d+ (minutes to read\. You need: |分钟。预备知识：)\S")
    for page in built_pages:
        texts = [each for each in page.article.find() if each.tag in {"h1", "p"}]
        below = texts[[each.tag for each in texts].index("h1") + 1]
        is_timed = page.source.name not in REFERENCE_PAGES
        assert bool(pattern.match(below.text())) == is_timed, f"{page}: write needs"
        assert len(page.article.find("p", "reading")) == is_timed, page


def test_every_chapter_has_its_summary_in_one_place_linked_below_the_title(built_pages):
    for page in built_pages:
        if chapter_number(page.source.name) is not None:
            anchors = [each.attributes.get("id") for each in page.article.find("h2")]
            assert anchors.count("in-short") == 1, page
            (line,) = page.article.find("p", "reading")
            assert "#in-short" in [link.attributes["href"] for link in line.find("a")], page
