"""The Markdown extension of the book: code annotations, figures, tooltips, Chinese line breaks.

hooks.py sets the page that is being rendered.
"""

import re
import xml.etree.ElementTree as etree
from html import escape

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString
from mkdocs.exceptions import PluginError

from bookbuild.pages import paths
from bookbuild.pages.glossary import tooltips
from bookbuild.pages.page import SourcePage

OPENING = re.compile(r"^( *)(`{3,})\s*\{[^}]*\.annotate\b")
ITEM = re.compile(r"^( *)(\d+)\.\s+`([^`]+)`")


class CodeAnnotations(Preprocessor):
    """Adds the markers of code annotations to the lines that they annotate.

    A block with the class annotate is followed by a numbered list. Each item
    begins with a piece of code, and the one line of the block that contains
    it gets the marker. The snippets themselves contain no markers.
    """

    def __init__(self, md: Markdown, extension: "BookExtension"):
        super().__init__(md)
        self.extension = extension

    def run(self, lines: list[str]) -> list[str]:
        start = 0
        while start < len(lines):
            opening = OPENING.match(lines[start])
            start += 1
            if opening:
                end = start
                while lines[end].strip() != opening[2]:
                    end += 1
                notes = self.notes(lines, end + 1)
                if not notes:
                    self.fail(
                        opening[0].strip(),
                        "no numbered notes follow this block",
                    )
                for number, piece, item in notes:
                    self.mark(lines, range(start, end), number, piece, item)
                start = end + 1
        return lines

    def notes(self, lines: list[str], start: int) -> list[tuple[str, str, str]]:
        """The number, code and line of each item of the list that starts here."""
        notes = []
        for line in lines[start:]:
            item = ITEM.match(line)
            if item:
                notes.append((item[2], item[3], line))
            elif line.strip() and not (notes and line.startswith("    ")):
                break
        return notes

    def mark(self, lines: list[str], block: range, number: str, piece: str, item: str) -> None:
        """Add a marker to the line of the block that contains the piece of code."""
        matches = [i for i in block if piece in lines[i]]
        if len(matches) != 1:
            self.fail(
                item,
                f"{len(matches)} lines of the block above contain `{piece}`",
            )
        line = lines[matches[0]]
        # Material keeps a comment before a plain marker and removes it before one with "!".
        lines[matches[0]] += f" ({number})" if re.search(r"\s# ", line) else f"  # ({number})!"

    def fail(self, source: str, message: str) -> None:
        page = self.extension.page
        raise PluginError(str(page.error(max(0, page.text.find(source)), message)))


class Figures(Treeprocessor):
    """Inserts figures into the page as SVG, so that the theme sets their colors."""

    def __init__(self, md: Markdown, extension: "BookExtension"):
        super().__init__(md)
        self.extension = extension

    def run(self, root: etree.Element) -> None:
        for parent in root.iter():
            for index, child in enumerate(parent):
                source = child.get("src", "")
                if child.tag == "img" and source.startswith("figures/"):
                    path = paths.GENERATED / self.extension.page.language / source
                    label = escape(child.get("alt", ""))
                    svg = path.read_text(encoding="utf-8")
                    svg = re.sub(r' (?:xmlns(?::xlink)?|version)="[^"]*"', "", svg, count=3)
                    svg = svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
                    wrapper = etree.Element("span", {"class": "figure"})
                    wrapper.text = self.md.htmlStash.store(svg)
                    wrapper.tail = child.tail
                    parent[index] = wrapper


class Tooltips(Treeprocessor):
    """Adds a tooltip to the first occurrence of each glossary term on a page."""

    SKIP_TAGS = frozenset(
        ["code", "pre", "a", "abbr", "h1", "h2", "h3", "h4", "h5", "h6", "th", "summary"]
    )
    SKIP_CLASSES = frozenset(["arithmatex", "admonition-title", "footnote", "quiz", "reading"])

    def __init__(self, md: Markdown, extension: "BookExtension"):
        super().__init__(md)
        self.extension = extension

    def run(self, root: etree.Element) -> None:
        page = self.extension.page
        if page.name in ("glossary.md", "sources.md"):
            return  # the first defines all terms; the second lists titles
        tips = tooltips(page.language)
        self.tips = {form.lower(): tip for form, tip in tips.items()}
        longest_first = sorted(tips, key=len, reverse=True)
        forms = "|".join(map(re.escape, longest_first)) or r"(?!)"
        # Chinese has no spaces between words.
        boundary = "" if page.language == "zh" else r"\b"
        self.pattern = re.compile(f"{boundary}(?:{forms}){boundary}", re.I)
        self.seen: set[str] = set()
        self.walk(root)

    def walk(self, element: etree.Element) -> None:
        classes = element.get("class", "").split()
        if element.tag in self.SKIP_TAGS or self.SKIP_CLASSES.intersection(classes):
            return
        element.text, content = self.split(element.text)
        for child in list(element):
            self.walk(child)
            child.tail, following = self.split(child.tail)
            content += [child, *following]
        element[:] = content

    def split(self, text: str | None) -> tuple[str | None, list[etree.Element]]:
        """The text up to the first new term, then each term with its tail."""
        if not text or isinstance(text, AtomicString):
            return text, []
        start, head = 0, text
        terms: list[etree.Element] = []
        for match in self.pattern.finditer(text):
            tip = self.tips[match[0].lower()]
            if tip in self.seen:
                continue
            self.seen.add(tip)
            if terms:
                terms[-1].tail = text[start : match.start()]
            else:
                head = text[: match.start()]
            term = etree.Element("abbr", {"title": tip})
            term.text = AtomicString(match[0])
            terms.append(term)
            start = match.end()
        if terms:
            terms[-1].tail = text[start:]
        return head, terms


class ChineseLines(Treeprocessor):
    """Joins the lines of Chinese prose, in which a line break must not become a space."""

    WIDE = r"[\u2018-\u201d\u2026\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]"
    BREAK = re.compile(rf"(?<={WIDE})\n *(?={WIDE})")

    def __init__(self, md: Markdown, extension: "BookExtension"):
        super().__init__(md)
        self.extension = extension

    def run(self, root: etree.Element) -> None:
        if self.extension.page.language != "zh":
            return  # English uses the same quotation marks, but with spaces
        for element in root.iter():
            if element.text:
                element.text = self.join(element.text)
            if element.tail:
                element.tail = self.join(element.tail)

    def join(self, text: str) -> str:
        return text if isinstance(text, AtomicString) else self.BREAK.sub("", text)


class BookExtension(Extension):
    """Registers the four processors; page is the page that is being rendered."""

    def __init__(self) -> None:
        super().__init__()
        self.page = SourcePage("en", "index.md")

    def extendMarkdown(self, md: Markdown) -> None:
        # After snippets are inserted (32), before fences are extracted (25).
        md.preprocessors.register(CodeAnnotations(md, self), "book-notes", 28)
        # After inline patterns (20), before MkDocs resolves links (0).
        md.treeprocessors.register(ChineseLines(md, self), "book-lines", 8)
        md.treeprocessors.register(Figures(md, self), "book-figures", 2)
        md.treeprocessors.register(Tooltips(md, self), "book-tooltips", 7)
