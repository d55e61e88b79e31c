"""HTML as a tree of elements, parsed by lxml."""

from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

PARSER = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)


@dataclass(frozen=True)
class Element:
    node: etree._Element

    @property
    def tag(self) -> str:
        return self.node.tag

    @property
    def attributes(self) -> dict[str, str]:
        return dict(self.node.attrib)

    @property
    def classes(self) -> list[str]:
        return self.node.get("class", "").split()

    @property
    def children(self) -> Iterator["Element | str"]:
        """The elements and texts directly below this element, in order."""
        yield self.node.text or ""
        for child in self.node:
            yield Element(child)
            yield child.tail or ""

    def find(self, tag: str = "", name: str = "") -> list["Element"]:
        """This element and those below it with this tag and this class, in order."""
        return [
            Element(node)
            for node in self.node.iter(tag or etree.Element)
            if not name or name in node.get("class", "").split()
        ]

    def text(self, skip: frozenset[str] = frozenset()) -> str:
        """The text of this element, without that of elements below it with these tags."""
        if not skip:
            return "".join(self.node.itertext())
        return "".join(
            child if isinstance(child, str) else child.text(skip)
            for child in self.children
            if isinstance(child, str) or child.tag not in skip
        )


def parse(html: str) -> Element:
    return Element(etree.fromstring(html.encode(), PARSER))
