"""The Markdown extension of the book: everything that a page needs, for any builder.

The file with the settings of a language's site names this module in its markdown_extensions. It
depends on neither MkDocs nor Material.
"""

import functools
import re
import xml.etree.ElementTree as etree
from html import escape
from types import SimpleNamespace
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.util import AtomicString
from pygments.token import STANDARD_TYPES

from bookbuild.check.mark_translated import with_pending_note
from bookbuild.generated import bibliography, reading_time
from bookbuild.mkdocs_site import formulas, line_notes
from bookbuild.mkdocs_site.page_html import add_code_breaks, add_line_counts, wrap_tables
from bookbuild.pages import fresh, paths
from bookbuild.pages.glossary import tooltips
from bookbuild.pages.page import CODE_FENCE, SourcePage, find_page, page_url
from bookbuild.pages.values import replace_values
from bookbuild.run.page_files import add_file_lists

# Where a term gets no tooltip.
SKIPPED_TAGS = {"code", "pre", "a", "abbr", "h1", "h2", "h3", "h4", "h5", "h6", "th", "summary"}
SKIPPED_CLASSES = {"arithmatex", "admonition-title", "footnote", "quiz", "reading"}
# A link of a figure to a page, which becomes relative to the page with the figure.
FIGURE_LINK = re.compile(r'(?<=<a )xlink:href="([\w/-]+\.md)(#[\w-]+|)"')
WIDE = r"[\u2018-\u201d\u2026\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]"
WIDE_BREAK = re.compile(rf"(?<={WIDE})\n *(?={WIDE})")
# Token classes of Pygments with the same color, merged under one class. Names and punctuation,
# which are most of the code, have the color of the block itself: see site.css.
PLAIN_TOKENS = ("n", "fm", "kc", "nx", "sa", "vm", "o", "ow", "p", "w")
MERGED_TOKENS = {
    "k": ("kd", "kn", "kp", "kr", "kt", "nd", "ni", "nl", "nt"),
    "m": ("il", "mb", "mf", "mh", "mi", "mo"),
    "nb": ("bp", "no"),
    "nf": ("nc", "ne", "nn"),
    "s": ("s1", "s2", "sb", "sc", "si", "ss"),
}
TOKEN_CLASSES = {each: name for name, others in MERGED_TOKENS.items() for each in others}
TOKEN_CLASSES |= dict.fromkeys(PLAIN_TOKENS, "")


def expand_source(lines: list[str], book: "BookExtension") -> list[str]:
    """Expand lists of files, citations, values, notes and the reading line, not yet includes."""
    text = "\n".join(lines)
    book.page = page = find_page(text, book.language) if book.finds_page else book.page
    text = add_file_lists(text, page.language)
    text = bibliography.expand_citations(text, page.language)
    text = replace_values(text, book.repository)
    text = text.replace(f"# {page.heading}\n", f"# {page.title}\n", 1)
    if page.is_pending:
        text = with_pending_note(text, page)
    if (needs := page.meta.get("needs")) is not None:
        text = reading_time.add_reading_line(text, needs, page.language)
    return text.split("\n")


def link_sources(lines: list[str], book: "BookExtension") -> list[str]:
    """Links to files of this repository, [text](source:PATH#L1), with its address; without one,
    only the text."""
    repository = book.repository.rstrip("/")
    link = rf"[\1]({repository}/blob/main/\2)\3" if repository else r"\1"
    pattern = r"\[([^]]*)\]\(source:([^)\s]+)\)(\{[^}]*\})?"
    return re.sub(pattern, link, "\n".join(lines)).split("\n")


def number_footnotes(root: etree.Element, book: "BookExtension") -> None:
    """Number footnotes as a reader meets them; Python-Markdown numbers those in lists last."""
    if "footnote-reorder" not in book.md.treeprocessors:
        return
    reordering: Any = book.md.treeprocessors["footnote-reorder"]
    notes = reordering.footnotes
    names = {f"#{notes.makeFootnoteId(name)}": name for name in notes.footnotes}
    links = [each for each in root.iter("a") if each.get("class") == "footnote-ref"]
    notes.footnote_order = [*dict.fromkeys(names[link.get("href", "")] for link in links)]
    for link in links:
        link.text = str(notes.footnote_order.index(names[link.get("href", "")]) + 1)


def pair_line_notes(root: etree.Element, book: "BookExtension") -> None:
    """Put the notes on lines of code beside the code."""
    line_notes.pair_notes(root, book.page, book.md)


def insert_figures(root: etree.Element, book: "BookExtension") -> None:
    """Insert figures into the page as SVG, so that the theme sets their colors."""
    page = book.page
    up = "../" * page_url(page.name).count("/")
    for parent in root.iter():
        for index, child in enumerate(parent):
            source = child.get("src", "")
            if child.tag == "img" and source.startswith("figures/"):
                label = escape(child.get("alt", ""))
                svg = (paths.GENERATED / page.language / source).read_text(encoding="utf-8")
                svg = re.sub(r' (?:xmlns(?::xlink)?|version)="[^"]*"', "", svg, count=3)
                svg, num_links = FIGURE_LINK.subn(
                    lambda link: f'href="{up}{page_url(link[1])}{link[2]}"', svg
                )
                role = "group" if num_links else "img"  # a screen reader finds no links in an img
                svg = svg.replace("<svg", f'<svg role="{role}" aria-label="{label}"', 1)
                wrapper = etree.Element("span", {"class": "figure"})
                wrapper.text, wrapper.tail = book.md.htmlStash.store(svg), child.tail
                parent[index] = wrapper


def add_tooltips(root: etree.Element, book: "BookExtension") -> None:
    """Add a tooltip to the first occurrence of each glossary term on a page."""
    page = book.page
    if page.name in ("glossary.md", "sources.md"):
        return  # the first defines all terms; the second lists titles
    tips = tooltips(page.language)
    forms = "|".join(map(re.escape, sorted(tips, key=len, reverse=True))) or r"(?!)"
    boundary = "" if page.language == "zh" else r"\b"  # Chinese has no spaces between words
    pattern = re.compile(f"{boundary}(?:{forms}){boundary}", re.I)
    tips = {form.lower(): tip for form, tip in tips.items()}
    seen: set[str] = set()

    def walk(element: etree.Element) -> None:
        classes = element.get("class", "").split()
        if element.tag in SKIPPED_TAGS or SKIPPED_CLASSES.intersection(classes):
            return
        element.text, content = split(element.text)
        for child in [*element]:
            walk(child)
            child.tail, terms = split(child.tail)
            content += [child, *terms]
        element[:] = content

    def split(text: str | None) -> tuple[str | None, list[etree.Element]]:
        """The text up to the first new term, then each term with its tail."""
        if not text or isinstance(text, AtomicString):
            return text, []
        start, pieces = 0, [etree.Element("text")]
        for match in pattern.finditer(text):
            tip = tips[match[0].lower()]
            if tip not in seen:
                seen.add(tip)
                pieces[-1].tail = text[start : match.start()]
                pieces.append(etree.Element("abbr", {"title": tip}))
                pieces[-1].text = AtomicString(match[0])
                start = match.end()
        pieces[-1].tail = text[start:]
        return pieces[0].tail, pieces[1:]

    walk(root)


def join_chinese_lines(root: etree.Element, book: "BookExtension") -> None:
    """Join the lines of Chinese prose, in which a line break must not become a space."""

    def join(text: str | None) -> str | None:
        return WIDE_BREAK.sub("", text) if text and not isinstance(text, AtomicString) else text

    if book.language == "zh":  # English uses the same quotation marks, but with spaces
        for element in root.iter():
            element.text, element.tail = join(element.text), join(element.tail)


def merge_token_classes() -> None:
    """Let Pygments write adjacent tokens of the same color as one element."""
    for token, name in STANDARD_TYPES.items():
        STANDARD_TYPES[token] = TOKEN_CLASSES.get(name, name)  # type: ignore[index]


def finish_html(html: str, book: "BookExtension") -> str:
    """Fill in the reading time, render formulas, and prepare code and tables."""
    page = book.page
    if page.meta.get("needs") is not None:
        html = html.replace("MINUTES", str(reading_time.reading_minutes(html)), 1)
    if needed := sorted({*formulas.find_formulas(html)}):
        html = formulas.replace_formulas(html, render_formulas(needed, page), book.repository)
    return wrap_tables(add_line_counts(add_code_breaks(html)))


def render_formulas(needed: list[formulas.Formula], page: SourcePage) -> dict:
    """The HTML of the formulas of a page, rendered again only if they have changed."""
    name, key = f"pages/{page.language}/{page.name}.formulas", fresh.hash_texts(map(repr, needed))
    try:
        return fresh.cached(name, key, lambda: formulas.render_formulas(needed))
    except ValueError as error:
        raise formulas.formula_error(page, *error.args) from None


class BookExtension(Extension):
    """Runs the functions above on the text, the elements or the HTML of a page."""

    def __init__(self, **options: Any):
        self.config = {
            "language": ["en", "the language of the pages"],
            "repository": ["", "the address of the repository, to which numbers link"],
            "page": ["", "the name of the page; without it, the page with the same title"],
        }
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:
        merge_token_classes()
        self.md, self.language = md, self.getConfig("language")
        self.repository = self.getConfig("repository") or ""
        self.finds_page = not self.getConfig("page")
        self.page = SourcePage(self.language, self.getConfig("page") or "index.md")
        # Lines: around the includes of pymdownx.snippets (32), before fences are extracted (25).
        # Elements: after inline patterns (20), before MkDocs resolves links (0).
        # HTML: after everything else.
        for registry, function, priority in (
            (md.preprocessors, expand_source, 34),
            (md.preprocessors, link_sources, 31),
            (md.treeprocessors, number_footnotes, 19.5),  # before their list is put in order (19)
            (md.treeprocessors, join_chinese_lines, 8),
            (md.treeprocessors, add_tooltips, 7),
            (md.treeprocessors, pair_line_notes, 3),
            (md.treeprocessors, insert_figures, 2),
            (md.postprocessors, finish_html, -1),
        ):
            processor: Any = SimpleNamespace(run=functools.partial(function, book=self))
            registry.register(processor, function.__name__, priority)


def makeExtension(**options: Any) -> BookExtension:
    return BookExtension(**options)


def expanded_text(text: str, settings: dict[str, dict]) -> str:
    """The Markdown of a page with its values and includes, from the settings of extensions."""
    md = Markdown(extensions=["pymdownx.snippets", __name__], extension_configs=settings)
    lines = text.split("\n")
    for step in ("expand_source", "snippet", "link_sources"):
        lines = md.preprocessors[step].run(lines)
    text = re.sub(r"^ +$", "", "\n".join(lines), flags=re.M)  # blank lines of an indented include
    return CODE_FENCE.sub(lambda block: re.sub(r"\s*(\n *[`~]+)$", r"\1", block[0]), text)
