"""The lists of pages on the home page and in the README, made from the table of contents."""

import re
from collections.abc import Iterator

from bookbuild.pages import paths
from bookbuild.pages.contents import Part, load_parts, part_title
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.page import SourcePage
from bookbuild.pages.paths import LANGUAGES

HOME_HEADER = {"en": "| Chapter | Question |", "zh": "| 章节 | 问题 |"}
README_HEADER = "| Part · 部分 | English | 中文 |"
README_LIST = re.compile(r"(?<=<!-- contents -->\n).*?(?=<!-- end of contents -->)", re.S)


def pages_of(part: Part, language: str) -> list[SourcePage]:
    """The pages of a part that exist in a language."""
    pages = (SourcePage(language, name) for name in part.pages)
    return [page for page in pages if page.path.exists()]


def home_table(language: str) -> str:
    """A row for each page with its question, below a row for each part."""
    rows = [HOME_HEADER[language], "|---|---|"]
    for part in load_parts():
        rows.append(f"| **{part_title(part, language)}** | |")
        for page in pages_of(part, language):
            rows.append(f"| [{page.title}]({page.name}) | {page.meta.get('question', '')} |")
    return "".join(f"{row}\n" for row in rows)


def readme_table() -> str:
    """A row for each part, with links to the sources of its pages in both languages."""
    rows = [README_HEADER, "|---|---|---|"]
    for part in load_parts():
        titles = " · ".join(part_title(part, language) for language in LANGUAGES)
        cells = [
            separator.join(
                f"[{page.title}]({page.display_path.as_posix()})"
                for page in pages_of(part, language)
            )
            for language, separator in zip(LANGUAGES, (", ", "、"), strict=True)
        ]
        rows.append(f"| {titles} | {' | '.join(cells)} |")
    return "".join(f"{row}\n" for row in rows)


def update_readme() -> bool:
    """Write the list of pages into README.md; returns whether it has changed."""
    path = paths.ROOT / "README.md"
    if not path.exists():
        return False
    old = path.read_text(encoding="utf-8")
    new = README_LIST.sub(lambda _: readme_table(), old)
    write_file(path, new)
    return new != old


def question_errors() -> Iterator[SourceError]:
    """Pages of the table of contents without the question that the home page lists."""
    for language in LANGUAGES:
        for page in (page for part in load_parts() for page in pages_of(part, language)):
            if not page.meta.get("question"):
                hint = "write the question that it answers into its front matter"
                yield SourceError(page.path, 1, f"has no question; {hint}")
