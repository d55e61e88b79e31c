"""The Markdown copy of each page, with its includes and values filled in."""

import posixpath
import re
from typing import NamedTuple

import yaml

from bookbuild.pages.page import FIGURE, page_url

FIGURE_LINK = {"en": r"[Figure: \1]({})", "zh": r"[图：\1]({})"}
COLORS = re.compile(r"\\(?:query|key|val)\b")  # macros that are defined only on the site
CODE = r"^(?P<indent> *)(?P<fence>`{3,}|~{3,}).*?^(?P=indent)(?P=fence)$|(?P<ticks>`+).+?(?P=ticks)"
LINK = re.compile(rf"{CODE}|(?<=\]\()(?P<target>[^)\s]+)(?=\))", re.M | re.S)


class PageCopy(NamedTuple):
    """The data of a page's Markdown copy."""

    language: str
    name: str  # labs/look-inside.md
    title: str
    description: str
    root: str  # the address of the site in this language
    markdown: str  # with values and includes filled in

    def text(self) -> str:
        """The content of the file: front matter, then the page."""
        address = self.root + page_url(self.name)
        head = {"title": self.title, "description": self.description}
        head |= {"language": self.language, "canonical": address}
        front = yaml.safe_dump(head, allow_unicode=True, sort_keys=False, width=float("inf"))
        body = COLORS.sub("", self.markdown)
        body = FIGURE.sub(FIGURE_LINK[self.language].format(address), body)
        return f"---\n{front}---\n\n{LINK.sub(self.absolute_link, body).strip()}\n"

    def absolute_link(self, link: re.Match[str]) -> str:
        """The absolute address of a link's target.

        A page becomes its Markdown copy, except with a query, which sets a widget's state.
        """
        path, mark, rest = re.findall(r"^([^?#]*)([?#]?)(.*)$", link["target"] or "")[0]
        if not path or "://" in path:
            return link[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.name), path))
        if path.endswith(".md"):
            path = page_url(path) + ("index.md" if mark != "?" else "")
        return f"{self.root}{path}{mark}{rest}"
