"""The two builds, English and Chinese, and how their pages link to each other."""

from urllib.parse import urljoin

from mkdocs.config.defaults import MkDocsConfig
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


def set_alternates(config: MkDocsConfig, url: str) -> None:
    """Link a page to both languages: relative for the switch, absolute for search engines."""
    root = root_url(config)
    up = "../" if build_language(config) == "zh" else ""
    config.extra["alternate"] = [
        {
            "name": "English",
            "lang": "en",
            "link": up + url or "./",
            "absolute": root + url,
        },
        {
            "name": "中文",
            "lang": "zh",
            "link": url or "./" if up else f"zh/{url}",
            "absolute": f"{root}zh/{url}",
        },
    ]
