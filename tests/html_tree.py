"""Parses HTML into a tree, with the standard library only."""

from collections.abc import Iterator
from html.parser import HTMLParser

VOID_ELEMENTS = {
    "area",
    "base",
    "br",
    "col",
    "embed",
    "hr",
    "img",
    "input",
    "link",
    "meta",
    "source",
    "wbr",
}


class Element:
    def __init__(self, tag: str, attributes: dict[str, str]):
        self.tag, self.attributes = tag, attributes
        self.children: list[Element | str] = []

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    def walk(self, skip: frozenset[str] = frozenset()) -> Iterator["Element | str"]:
        """The element and its descendants in order, without elements of the skipped tags."""
        yield self
        for child in self.children:
            if isinstance(child, str):
                yield child
            elif child.tag not in skip:
                yield from child.walk(skip)

    def find(self, tag: str = "", name: str = "") -> list["Element"]:
        """All elements of this tag and this class, in order."""
        return [
            each
            for each in self.walk()
            if isinstance(each, Element)
            and (not tag or each.tag == tag)
            and (not name or name in each.classes)
        ]

    def text(self, skip: frozenset[str] = frozenset()) -> str:
        return "".join(each for each in self.walk(skip) if isinstance(each, str))


class Parser(HTMLParser):
    """Builds the tree; an end tag closes the last open element with its name."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID_ELEMENTS:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID_ELEMENTS:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if any(element.tag == tag for element in self.open):
            while self.open.pop().tag != tag:
                pass

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parse(html: str) -> Element:
    parser = Parser()
    parser.feed(html)
    parser.close()
    return parser.root
