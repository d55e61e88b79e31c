"""Notes on lines of code: a numbered list below a block of code with the class annotate.

Each note begins with a piece of code, and belongs to the one line of the block that contains it.
The snippets themselves contain no numbers.
"""

import re
import xml.etree.ElementTree as etree
from html import unescape
from itertools import pairwise

from markdown import Markdown
from markdown.util import HTML_PLACEHOLDER_RE

from bookbuild.pages.errors import SourceError
from bookbuild.pages.page import SourcePage

ANNOTATED = re.compile(r'<div class="[^"]*\bannotate\b[^"]*">')
FENCE = re.compile(r"^ *`{3,}\s*\{[^}]*\.annotate\b", re.M)
LABELS = {"en": ("Notes", "Note"), "zh": ("行注", "行注")}


def pair_notes(root: etree.Element, page: SourcePage, md: Markdown) -> None:
    """Put each block and its notes into one element, and link each line to its note."""
    num_blocks = 0
    for parent in [*root.iter()]:
        for block in [*parent]:
            place = placeholder_index(block)
            if place is None or not ANNOTATED.match(stashed_text(block, md)):
                continue
            num_blocks += 1
            index = [*parent].index(block)
            notes = parent[index + 1] if index + 1 < len(parent) else None
            if notes is None or notes.tag != "ol":
                raise error(page, num_blocks, "", "no numbered notes follow this block")
            pieces = [first_code(item, md) for item in notes]
            html = link_lines(stashed_text(block, md), pieces, notes, page, num_blocks)
            md.htmlStash.rawHtmlBlocks[place] = html
            parent[index : index + 2] = [side_by_side(block, notes, LABELS[page.language][0])]


def side_by_side(block: etree.Element, notes: etree.Element, label: str) -> etree.Element:
    """A block, the control that folds the notes, and its notes in one element."""
    wrapper = etree.Element("div", {"class": "annotated"})
    wrapper.tail, block.tail, notes.tail = notes.tail, "\n", "\n"
    attributes = {"type": "button", "class": "notes-button", "aria-expanded": "true"}
    button = etree.Element("button", attributes | {"aria-label": label})
    wrapper.extend([block, button, notes])
    return wrapper


def link_lines(
    html: str, pieces: list[str], notes: etree.Element, page: SourcePage, block: int
) -> str:
    """The HTML of a block with the number of its note at the end of each line that has one.

    Each note gets the part of the block's height from its line to the next note's, from which
    site.css places it beside its line.
    """
    start, code, end = re.split(r"(?<=<code>)(.*)(?=</code>)", html, maxsplit=1, flags=re.S)
    lines = code.split("\n")
    texts = [unescape(re.sub("<[^>]+>", "", line)) for line in lines]
    places = []
    for number, piece in enumerate(pieces, 1):
        if not piece:
            message = f"note {number} doesn't begin with code of this block"
            raise error(page, block, "", message)
        matches = [index for index, text in enumerate(texts) if piece in text]
        if len(matches) != 1:
            message = f"{len(matches)} lines of the block above contain `{piece}`"
            raise error(page, block, f"^ *{number}\\.\\s+`{re.escape(piece)}`", message)
        places += matches
        name = f"note-{block}-{number}"
        link = (
            f'<a class="note-link" href="#{name}" data-note="{number}"'
            f' aria-label="{LABELS[page.language][1]} {number}"></a>'
        )
        lines[matches[0]] = f'<span class="noted">{lines[matches[0]]}{link}</span>'
        wrap_note(notes[number - 1], name)
    heights = [after - place for place, after in pairwise([*places, len(lines) - 1])]
    for item, height in zip(notes, heights, strict=True):
        item.set("style", f"flex-basis: {max(0, height) / (len(lines) - 1):.1%}")
    notes.set("style", f"--above: {places[0] / (len(lines) - 1):.1%}")
    return f"{start}{chr(10).join(lines)}{end}"


def wrap_note(item: etree.Element, name: str) -> None:
    """Move what an item of the list contains into an element that is no higher than the note."""
    note = etree.Element("div", {"class": "line-note", "id": name})
    note.text, note[:] = item.text, [*item]
    item.text, item[:] = None, [note]


def error(page: SourcePage, block: int, item: str, message: str) -> SourceError:
    """An error at the block with this number, or at the item of its notes."""
    fences = [*FENCE.finditer(page.text)]
    position = fences[block - 1].start() if block <= len(fences) else 0
    if item and (match := re.compile(item, re.M).search(page.text, position)):
        position = match.start()
    return page.error(position, message)


def placeholder_index(element: etree.Element) -> int | None:
    """The index of the stored text that this element stands for."""
    match = HTML_PLACEHOLDER_RE.fullmatch(element.text or "")
    return int(match[1]) if match and not len(element) else None


def stashed_text(element: etree.Element, md: Markdown) -> str:
    index = placeholder_index(element)
    return "" if index is None else str(md.htmlStash.rawHtmlBlocks[index])


def first_code(item: etree.Element, md: Markdown) -> str:
    """The code with which a note begins."""
    while len(item) and not (item.text or "").strip():
        item = item[0]
        if item.tag == "code":
            return unescape(stashed_text(item, md) or item.text or "")
    return ""
