"""What the book adds to Markdown: notes on lines of code, figures, tooltips, Chinese lines.

One extension; scripts/hooks.py tells it which page is being read.
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

import book
import formulas

OPENING = re.compile(r"^( *)(`{3,})\s*\{[^}]*\.annotate\b")
ITEM = re.compile(r"^( *)(\d+)\.\s+`([^`]+)`")


class Notes(Preprocessor):
    """Puts the marks of code annotations where their notes say.

    Below a block with the class annotate stands a numbered list; each item
    begins with a piece of code, and the one line of the block that contains
    it gets the mark. The snippets themselves carry no marks.
    """

    def __init__(self, md: Markdown, extension: "Book"):
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
        raise PluginError(str(page.fault(max(0, page.text.find(where)), what)))


# The colours of code: one name for what has one colour, by the first letters of Pygments' names.
# Names and signs, which are most of code, have the colour of the block itself: site.css
PLAIN = ("n", "fm", "kc", "nx", "sa", "vm", "o", "ow", "p", "w")
SAME = {
    "k": ("kd", "kn", "kp", "kr", "kt", "nd", "ni", "nl", "nt"),
    "m": ("il", "mb", "mf", "mh", "mi", "mo"),
    "nb": ("bp", "no"),
    "nf": ("nc", "ne", "nn"),
    "s": ("s1", "s2", "sb", "sc", "si", "ss"),
}
NAMES = {each: name for name, others in SAME.items() for each in others}


def coloured(page: str) -> str:
    """A page's HTML in which code has an element for each change of its colour, and no more."""

    def named(token: re.Match[str]) -> str:
        name = NAMES.get(token[1], token[1])
        return token[2] if name in PLAIN else f'<span class="{name}">{token[2]}</span>'

    def block(code: re.Match[str]) -> str:
        told = re.sub(r'<span class="(\w+)">([^<]*)</span>', named, code[0])
        return run.sub(joined, told)

    # What stands side by side, or has nothing but spaces between.
    run = re.compile(r'<span class="(\w+)">[^<]*</span>(?: *<span class="\1">[^<]*</span>)+')

    def joined(parts: re.Match[str]) -> str:
        return f'<span class="{parts[1]}">{re.sub("<[^>]+>", "", parts[0])}</span>'

    return re.sub(r"(?<=<pre><span></span><code>).*?(?=</code>)", block, page, flags=re.S)


CODE = re.compile(r"(<pre>(?:<span></span>)?<code)>(.*?)(?=</code>)", re.S)


def with_heights(page: str) -> str:
    """A page's HTML in which code says how many lines it has, so that site.css can leave what
    is far from the window undrawn and yet give it its room to the pixel."""

    def add(block: re.Match[str]) -> str:
        lines = block[2].count("\n")
        return f'{block[1]} style="--lines: {lines}">{block[2]}'

    return CODE.sub(add, page)


def with_room(page: str) -> str:
    """A page's HTML in which each table stands in an element of its own: Material's script takes
    every table out and puts it back, and the browser then styles anew all that is beside it."""
    return re.sub(r"(?<=\n)<table>.*?</table>", r"<div>\g<0></div>", page, flags=re.S)


def with_breaks(page: str) -> str:
    """A page's HTML in which code in tables may be broken, but only behind . , _ ( and =."""

    def breakable(code: re.Match[str]) -> str:
        return f"<code>{re.sub(r'(?<=[.,_(=])(?=[^.,_(=)])', '<wbr>', code[1])}</code>"

    def cell(match: re.Match[str]) -> str:
        return re.sub(r"<code>([^<]*)</code>", breakable, match[0])

    return re.sub(r"<td.*?</td>", cell, page, flags=re.S)


def unindented(page: str) -> str:
    """A page's HTML without the indents of templates, which nobody sees."""
    kept = r"<(pre|script|textarea)\b.*?</\1>"
    return re.sub(rf"{kept}|\s*\n\s*", lambda each: each[0] if each[1] else "\n", page, flags=re.S)


def words(page: str) -> str:
    """A page's HTML for the search to read: no figures, no colours of code, no TeX commands."""

    def plain(match: re.Match[str]) -> str:
        tex = "…" if "\\" in match["tex"] else match["tex"]
        return f"{match['before']}{tex}{match['after']}"

    def bare(code: re.Match[str]) -> str:
        return re.sub("<[^>]+>", "", code[0])

    page = re.sub(r"<svg.*?</svg>", "", page, flags=re.S)
    page = formulas.FORMULA.sub(plain, page)
    return re.sub(r"(?<=<code>).*?(?=</code>)", bare, page, flags=re.S)


class Figures(Treeprocessor):
    """Puts figures into the page, so that the theme colours them."""

    def __init__(self, md: Markdown, extension: "Book"):
        super().__init__(md)
        self.extension = extension

    def run(self, root: etree.Element) -> None:
        for parent in root.iter():
            for index, child in enumerate(parent):
                source = child.get("src", "")
                if child.tag == "img" and source.startswith("figures/"):
                    path = book.GENERATED / self.extension.page.language / source
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

    def __init__(self, md: Markdown, extension: "Book"):
        super().__init__(md)
        self.extension = extension

    def run(self, root: etree.Element) -> None:
        page = self.extension.page
        if page.name in ("glossary.md", "sources.md"):
            return  # the one explains them all; the other lists the titles of others
        tips = book.tooltips(page.language)
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


class Lines(Treeprocessor):
    """Joins the lines of Chinese prose, in which a space would be a fault."""

    WIDE = r"[\u2018-\u201d\u2026\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]"
    BREAK = re.compile(rf"(?<={WIDE})\n *(?={WIDE})")

    def __init__(self, md: Markdown, extension: "Book"):
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


class Book(Extension):
    """The four of them; page is the page being read."""

    def __init__(self) -> None:
        super().__init__()
        self.page = book.Page("en", "index.md")

    def extendMarkdown(self, md: Markdown) -> None:
        # After the snippets are in (32), before fences are taken out (25).
        md.preprocessors.register(Notes(md, self), "book-notes", 28)
        # After inline patterns (20), before MkDocs looks at links (0).
        md.treeprocessors.register(Lines(md, self), "book-lines", 8)
        md.treeprocessors.register(Figures(md, self), "book-figures", 2)
        md.treeprocessors.register(Tooltips(md, self), "book-tooltips", 7)
