"""The two builds, English and Chinese, and how their pages link to each other."""

from urllib.parse import urljoin

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

from bookbuild.pages.page import SourcePage


def build_language(config: MkDocsConfig) -> str:
    """The language of a build: en or zh."""
    return config.theme["language"]


def source_page(page: Page, config: MkDocsConfig) -> SourcePage:
    """The source file of an MkDocs page."""
    return SourcePage(build_language(config), page.file.src_uri)


def root_url(config: MkDocsConfig) -> str:
    """The address of the whole site, whichever language is being built."""
    root = config.site_url or "/"
    return urljoin(root, "..") if build_language(config) == "zh" else root


def translate_titles(nav: Navigation, config: MkDocsConfig) -> None:
    """Give the parts of the nav their titles in this language."""
    titles = config.extra.get("nav_titles", {})
    for item in (item for item in nav.items if item.title in titles):
        item.title = titles[item.title]


def set_alternates(config: MkDocsConfig, url: str) -> None:
    """Link a page to both languages: relative for the switch, absolute for search engines."""
    root, own = root_url(config), build_language(config)
    up = "../" if own == "zh" else ""
    config.extra["alternate"] = [
        {
            "name": name,
            "lang": language,
            "link": (url if language == own else f"{up}{folder}{url}") or "./",
            "absolute": f"{root}{folder}{url}",
        }
        for name, language, folder in (("English", "en", ""), ("中文", "zh", "zh/"))
    ]
