"""What the search of the site finds; overrides/assets/search.js ranks it."""

import copy
import html
import json
import re
from pathlib import Path

from material.plugins.search.plugin import SearchIndex
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

from bookbuild.mkdocs_site.formulas import formulas_as_text
from bookbuild.mkdocs_site.languages import build_language
from bookbuild.mkdocs_site.rendering import cached_step
from bookbuild.pages.files import write_file
from bookbuild.pages.glossary import search_names

ERROR_LINE = re.compile(r"^.*(?:[A-Z]\w+(?:Error|Warning)\b|mismatch).*", re.M)
NAME = re.compile(r"[A-Za-z][A-Za-z_]{2,}")
EXERCISES_BOOST = 0.5
LEFT_OUT = re.compile(
    r'<svg.*?</svg>|<span class="filename">.*?</span>|<sup id="fnref.*?</sup>', re.S
)
BLOCK = re.compile(r"<pre>(.*?)</pre>", re.S)


class BookIndex(SearchIndex):
    """Indexes pages without figures and TeX, and only the changed pages while serving."""

    def __init__(self, config: MkDocsConfig):
        super().__init__(**config.plugins["material/search"].config)
        self.folder = Path(config.site_dir)
        self.names = [*search_names(build_language(config))]

    def add_entry_from_context(self, page: Page) -> None:
        def make_entries() -> list[dict]:
            index, shortened = SearchIndex(**self.config), copy.copy(page)
            index._segment_chinese = str  # type: ignore[method-assign]  # search.js does it
            shortened.content = searchable_html(page.content or "")
            index.add_entry_from_context(shortened)
            return [searchable_section(entry) for entry in index.entries]

        entries = cached_step(page, "search", make_entries)
        if entries:
            self.add_names(entries, page)
            self.entries += entries

    def add_names(self, entries: list[dict], page: Page) -> None:
        """Add other words to the sections that they name; an anchor in a section names its page."""
        sections = {entry["location"].partition("#")[2]: entry for entry in entries}
        for place, names in self.names:
            name, _, anchor = place.partition("#")
            if name == page.file.src_uri:
                entry = sections.get(anchor, entries[0])
                entry["names"] = f"{entry.get('names', '')}{names}\n"

    def generate_search_index(self, prev: SearchIndex | None) -> str:
        """Write the texts into a file of their own, which the search can wait for."""
        index = json.loads(super().generate_search_index(prev))
        texts = [{key: entry.pop(key) for key in ("text", "code")} for entry in index["docs"]]
        write_file(self.folder / "search" / "texts.json", as_json(texts))
        return as_json(index)


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def searchable_html(page: str) -> str:
    """The HTML for the search index: without figures, TeX, names of files and footnote marks."""
    return formulas_as_text(LEFT_OUT.sub("", page))


def searchable_section(entry: dict) -> dict:
    """An entry in plain text. Of a block of code only the errors that it shows belong to the text;
    names that it uses are apart, where they count less."""
    blocks = [plain_text(block) for block in BLOCK.findall(entry["text"])]
    text = plain_text(BLOCK.sub(errors_in, entry["text"]))
    names = sorted({*NAME.findall("\n".join(blocks))} - {*NAME.findall(text)})
    entry |= {"title": plain_text(entry["title"]), "text": text, "code": " ".join(names)}
    if entry["location"].endswith("#exercises"):
        entry["boost"] = entry.get("boost", 1) * EXERCISES_BOOST
    return entry


def errors_in(block: re.Match) -> str:
    return html.escape("\n".join(ERROR_LINE.findall(plain_text(block[1]))))


def plain_text(markup: str) -> str:
    lines = html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"</(?:p|li)>", "\n", markup))).split("\n")
    return "\n".join(" ".join(line.split()) for line in lines if line.strip())
