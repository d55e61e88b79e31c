"""Every list of pages and every chapter number comes from the nav of mkdocs.yml."""

from pathlib import Path

import pytest

from bookbuild.check.mark_translated import mark_translated
from bookbuild.generated import contents_tables
from sample_book import change

NAV = "  - Chapters:\n      - other.md\n      - last.md\n"


def write_page(folder: Path, name: str, **texts: tuple[str, str]) -> None:
    for language, (title, question) in texts.items():
        text = f"---\ndescription: {question}\nquestion: {question}\n---\n\n# {title}\n"
        (folder / f"docs/{language}/{name}.md").write_text(text, encoding="utf-8")


@pytest.fixture
def chapters(sample_folder: Path) -> Path:
    """The sample book with two numbered chapters."""
    change(sample_folder / "mkdocs.yml", "  - other.md\n", NAV)
    change(sample_folder / "mkdocs.yml", "    - After 2017\n", "    - Chapters\n")
    with open(sample_folder / "mkdocs.zh.yml", "a", encoding="utf-8") as config:
        config.write("\nextra:\n  nav_titles: {Chapters: 各章}\n")
    write_page(sample_folder, "last", en=("Last", "What is last?"), zh=("最后", "最后是什么？"))
    for language, question in (("en", "What else?"), ("zh", "还有什么？")):
        page = sample_folder / f"docs/{language}/other.md"
        change(page, "\n---\n\n", f"\nquestion: {question}\n---\n\n")
    for name in ("other", "last"):
        mark_translated(name)
    return sample_folder


def test_the_home_page_lists_the_question_of_each_page(chapters):
    assert contents_tables.home_table("zh").splitlines()[2:] == [
        "| **各章** | |",
        "| [1. 其他](other.md) | 还有什么？ |",
        "| [2. 最后](last.md) | 最后是什么？ |",
    ]


def test_a_page_without_a_question_is_reported(chapters):
    change(chapters / "docs/zh/last.md", "question: ", "ask: ")
    (error,) = contents_tables.question_errors()
    assert str(error).startswith("docs/zh/last.md:1: has no question; write the question")
