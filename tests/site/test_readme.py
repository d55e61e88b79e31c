"""The README lists all pages with their titles, and names only files that exist."""

import re
from pathlib import Path

import pytest
import yaml

from bookbuild.pages.page import SourcePage
from bookbuild.pages.paths import LANGUAGES
from built_pages import ROOT

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "PERFORMANCE.md", "SECURITY.md")
LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
CODE = re.compile(r"`[^`\n]+`")
COMMAND = re.compile(r"`(scripts/[a-z_./-]+)")


class Loader(yaml.SafeLoader):
    """Reads mkdocs.yml without the values of environment variables."""


Loader.add_constructor("!ENV", lambda loader, node: None)


def nav_pages(items: list[dict]) -> list[tuple[str, str]]:
    """Title and file of each page of a nav, in order, without its sections."""
    pages = []
    for item in items:
        for title, target in item.items():
            pages += nav_pages(target) if isinstance(target, list) else [(title, target)]
    return pages


def read_nav(language: str) -> list[tuple[str, str]]:
    """Title and file of each page of the nav of a language."""
    settings = "mkdocs.yml" if language == "en" else f"mkdocs.{language}.yml"
    return nav_pages(yaml.load((ROOT / settings).read_text(encoding="utf-8"), Loader)["nav"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_chapters_are_numbered_and_pages_have_the_titles_of_the_nav(language):
    pages = [page for page in read_nav(language) if page[1] != "index.md"]
    assert [SourcePage(language, name).title for _, name in pages] == [title for title, _ in pages]
    numbers = [title.split(". ")[0] for title, _ in pages if title[0].isdigit()]
    assert numbers == [str(i) for i in range(1, len(numbers) + 1)] and len(numbers) >= 15


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_chapter_list_is_the_nav(language):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = "\n".join(line for line in readme.splitlines() if line.startswith("| "))
    folder = f"docs/{language}/"
    listed = [
        (title, str(Path(target.removeprefix(folder)).with_suffix(".md")))
        for title, target in LINK.findall(table)
        if target.startswith(folder)
    ]
    assert listed == [page for page in read_nav(language) if page[1] != "index.md"]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_and_commands_lead_to_files(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = [target for _, target in LINK.findall(CODE.sub("", text)) if "://" not in target]
    targets += COMMAND.findall(text)
    missing = [each for each in targets if not (ROOT / each.partition("#")[0]).exists()]
    assert not missing, f"{name} names files that do not exist"
