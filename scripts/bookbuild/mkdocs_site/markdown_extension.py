"""What the book adds to Markdown: notes on lines of code, figures, tooltips, Chinese lines.

One extension; hooks.py sets the page that is being read.
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
    """Puts the marks of code annotations where their notes say.

    Below a block with the class annotate stands a numbered list; each item
    begins with a piece of code, and the one line of the block that contains
    it gets the mark. The snippets themselves carry no marks.
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
        found = []
        for line in lines[start:]:
            item = ITEM.match(line)
            if item:
                found.append((item[2], item[3], line))
            elif line.strip() and not (found and line.startswith("    ")):
                break
        return found

    def mark(self, lines: list[str], block: range, number: str, piece: str, item: str) -> None:
        places = [i for i in block if piece in lines[i]]
        if len(places) != 1:
            self.fail(
                item,
                f"{len(places)} lines of the block above contain `{piece}`",
            )
        line = lines[places[0]]
        # Material keeps the comment before a bare mark and drops it before "!".
        lines[places[0]] += f" ({number})" if re.search(r"\s# ", line) else f"  # ({number})!"

    def fail(self, where: str, what: str) -> None:
        page = self.extension.page
        raise PluginError(str(page.error(max(0, page.text.find(where)), what)))


class Figures(Treeprocessor):
    """Puts figures into the page, so that the theme colours them."""

    def __init__(self, md: Markdown, extension: "BookExtension"):
        super().__init__(md)
        self.extension = extension

    def run(self, root: etree.Element) -> None:
        for parent in root.iter():
            for index, child in enumerate(parent):
                source = child.get("src", "")
                if child.tag == "img" and source.startswith("figures/"):
                    path = paths.GENERATED / self.extension.page.language / source
                    told = escape(child.get("alt", ""))
                    svg = path.read_text(encoding="utf-8")
                    svg = re.sub(r' (?:xmlns(?::xlink)?|version)="[^"]*"', "", svg, count=3)
                    svg = svg.replace("<svg", f'<svg role="img" aria-label="{told}"', 1)
                    holder = etree.Element("span", {"class": "figure"})
                    holder.text = self.md.htmlStash.store(svg)
                    holder.tail = child.tail
                    parent[index] = holder


class Tooltips(Treeprocessor):
    """Explains each term of the glossary where a page first uses it."""

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
            return  # the one explains them all; the other lists the titles of others
        tips = tooltips(page.language)
        self.tips = {form.lower(): tip for form, tip in tips.items()}
        longest_first = sorted(tips, key=len, reverse=True)
        forms = "|".join(map(re.escape, longest_first)) or r"(?!)"
        # Chinese has no spaces between words.
        edge = "" if page.language == "zh" else r"\b"
        self.pattern = re.compile(f"{edge}(?:{forms}){edge}", re.I)
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
        made: list[etree.Element] = []
        for match in self.pattern.finditer(text):
            tip = self.tips[match[0].lower()]
            if tip in self.seen:
                continue
            self.seen.add(tip)
            if made:
                made[-1].tail = text[start : match.start()]
            else:
                head = text[: match.start()]
            term = etree.Element("abbr", {"title": tip})
            term.text = AtomicString(match[0])
            made.append(term)
            start = match.end()
        if made:
            made[-1].tail = text[start:]
        return head, made


class ChineseLines(Treeprocessor):
    """Joins the lines of Chinese prose, in which a space would be a fault."""

    WIDE = r"[\u2018-\u201d\u2026\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]"
    BREAK = re.compile(rf"(?<={WIDE})\n *(?={WIDE})")

    def __init__(self, md: Markdown, extension: "BookExtension"):
        super().__init__(md)
        self.extension = extension

    def run(self, root: etree.Element) -> None:
        if self.extension.page.language != "zh":
            return  # English has the same quotation marks, with a space between them
        for element in root.iter():
            if element.text:
                element.text = self.join(element.text)
            if element.tail:
                element.tail = self.join(element.tail)

    def join(self, text: str) -> str:
        return text if isinstance(text, AtomicString) else self.BREAK.sub("", text)


class BookExtension(Extension):
    """The four of them; page is the page being read."""

    def __init__(self) -> None:
        super().__init__()
        self.page = SourcePage("en", "index.md")

    def extendMarkdown(self, md: Markdown) -> None:
        # After the snippets are in (32), before fences are taken out (25).
        md.preprocessors.register(CodeAnnotations(md, self), "book-notes", 28)
        # After inline patterns (20), before MkDocs looks at links (0).
        md.treeprocessors.register(ChineseLines(md, self), "book-lines", 8)
        md.treeprocessors.register(Figures(md, self), "book-figures", 2)
        md.treeprocessors.register(Tooltips(md, self), "book-tooltips", 7)
