"""What the search of the site finds."""

import copy
import functools
import io
import logging
import re

import jieba
from material.plugins.search.plugin import SearchIndex
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

from bookbuild.mkdocs_site.formulas import formulas_as_text
from bookbuild.mkdocs_site.languages import build_language
from bookbuild.mkdocs_site.rendering import cached_step
from bookbuild.pages import paths
from bookbuild.pages.glossary import segmentation_words


class BookIndex(SearchIndex):
    """Indexes pages without figures and TeX, and only the changed pages while serving."""

    def __init__(self, config: MkDocsConfig):
        plugin = config.plugins["material/search"]
        super().__init__(**plugin.config)
        self.is_chinese = build_language(config) == "zh"
        # Another user's copy in the folder for temporary files may be unwritable or not trusted.
        jieba.dt.tmp_dir = str(paths.GENERATED)
        jieba.setLogLevel(logging.WARNING)  # not how long its dictionary takes to load

    def add_entry_from_context(self, page: Page) -> None:
        def make_entries() -> list[dict]:
            if self.is_chinese:
                load_words(segmentation_words())
            index, shortened = SearchIndex(**self.config), copy.copy(page)
            shortened.content = searchable_html(page.content or "")
            index.add_entry_from_context(shortened)
            return index.entries

        self.entries += cached_step(page, "search", make_entries)


@functools.cache
def load_words(words: str) -> None:
    """Load jieba's dictionary, which takes half a second, and words that search must not split."""
    jieba.load_userdict(io.StringIO(words))


def searchable_html(page: str) -> str:
    """The HTML for the search index: without figures and TeX commands."""
    return formulas_as_text(re.sub(r"<svg.*?</svg>", "", page, flags=re.S))
