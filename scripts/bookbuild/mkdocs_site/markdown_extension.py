"""The Markdown extension of the book: code annotations, figures, tooltips, Chinese line breaks.

hooks.py sets the page that is being rendered.
"""

import re
import xml.etree.ElementTree as etree
from collections.abc import Callable, Iterator
from html import escape
from types import SimpleNamespace
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.util import AtomicString
from mkdocs.exceptions import PluginError
from pygments.token import STANDARD_TYPES

from bookbuild.pages import paths
from bookbuild.pages.glossary import tooltips
from bookbuild.pages.page import SourcePage, page_url

OPENING = re.compile(r"^ *(`{3,})\s*\{[^}]*\.annotate\b")
ITEM = re.compile(r"^ *(\d+)\.\s+`([^`]+)`")
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


def mark_annotations(lines: list[str], page: SourcePage, md: Markdown) -> list[str]:
    """Add the markers of code annotations to the lines that they annotate.

    A block with the class annotate is followed by a numbered list. Each item begins with a piece
    of code, and the one line of the block that contains it gets the marker. The snippets
    themselves contain no markers.
    """

    def error(source: str, message: str) -> PluginError:
        return PluginError(str(page.error(max(0, page.text.find(source)), message)))

    for start, line in enumerate(lines):
        if opening := OPENING.match(line):
            end = next(i for i in range(start + 1, len(lines)) if lines[i].strip() == opening[1])
            notes = [*annotation_notes(lines[end + 1 :])]
            if not notes:
                raise error(opening[0].strip(), "no numbered notes follow this block")
            for item in notes:
                number, code = item.groups()
                matches = [i for i in range(start + 1, end) if code in lines[i]]
                if len(matches) != 1:
                    message = f"{len(matches)} lines of the block above contain `{code}`"
                    raise error(item.string, message)
                # Material keeps a comment before a plain marker and removes it before one with "!".
                has_comment = re.search(r"\s# ", lines[matches[0]])
                lines[matches[0]] += f" ({number})" if has_comment else f"  # ({number})!"
    return lines


def annotation_notes(lines: list[str]) -> Iterator[re.Match[str]]:
    """The items of the list with which these lines start."""
    indent = ""  # of what belongs to an item
    for line in lines:
        if item := ITEM.match(line):
            indent = " " * (line.index(item[1]) + 4)
            yield item
        elif line.strip() and not (indent and line.startswith(indent)):
            return


def insert_figures(root: etree.Element, page: SourcePage, md: Markdown) -> None:
    """Insert figures into the page as SVG, so that the theme sets their colors."""
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
                wrapper.text, wrapper.tail = md.htmlStash.store(svg), child.tail
                parent[index] = wrapper


def add_tooltips(root: etree.Element, page: SourcePage, md: Markdown) -> None:
    """Add a tooltip to the first occurrence of each glossary term on a page."""
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


def join_chinese_lines(root: etree.Element, page: SourcePage, md: Markdown) -> None:
    """Join the lines of Chinese prose, in which a line break must not become a space."""

    def join(text: str | None) -> str | None:
        return WIDE_BREAK.sub("", text) if text and not isinstance(text, AtomicString) else text

    if page.language == "zh":  # English uses the same quotation marks, but with spaces
        for element in root.iter():
            element.text, element.tail = join(element.text), join(element.tail)


def merge_token_classes() -> None:
    """Let Pygments write adjacent tokens of the same color as one element."""
    for token, name in STANDARD_TYPES.items():
        STANDARD_TYPES[token] = TOKEN_CLASSES.get(name, name)  # type: ignore[index]


class BookExtension(Extension):
    """Runs the four functions on the lines or the elements of the page that is being rendered."""

    page = SourcePage("en", "index.md")

    def extendMarkdown(self, md: Markdown) -> None:
        merge_token_classes()
        # Lines: before fences are extracted (25).
        # Elements: after inline patterns (20), before MkDocs resolves links (0).
        for registry, function, priority in (
            (md.preprocessors, mark_annotations, 28),
            (md.treeprocessors, join_chinese_lines, 8),
            (md.treeprocessors, add_tooltips, 7),
            (md.treeprocessors, insert_figures, 2),
        ):

            def run(content: Any, function: Callable[..., Any] = function) -> Any:
                return function(content, self.page, md)

            processor: Any = SimpleNamespace(run=run)
            registry.register(processor, function.__name__, priority)
