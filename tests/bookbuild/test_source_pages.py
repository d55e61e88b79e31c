"""Errors in the sources are reported with file and line.

Others are in tests/site/test_source_errors.py.
"""

import pytest

from bookbuild.check.includes import completeness_errors, page_errors
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.glossary import glossary_errors, glossary_table
from bookbuild.pages.page import list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import read_sections, section_errors, without_section_markers
from bookbuild.pages.values import replace_values
from sample_book import change, line_of

PAGE_PATH = "docs/en/index.md"


@pytest.fixture
def generated_book(sample_folder):
    """The sample book with the outputs of generate, written by hand."""
    for language in LANGUAGES:
        write_file(paths.GENERATED / language / "figures/chapter/line.svg", "<svg></svg>\n")
    write_file(paths.GENERATED / "outputs/examples/chapter/say.txt", "number: 42\n")
    return sample_folder


def error_messages() -> list[str]:
    """All errors that bookbuild reports for the sample book."""
    found = [*section_errors()]
    for language in LANGUAGES:
        for page in list_pages(language):
            found += page_errors(page)
    return [str(problem) for problem in found or completeness_errors()]


def is_reported(start: str) -> bool:
    """Whether an error starts with this text; a hint may follow."""
    return any(each.startswith(start) for each in error_messages())


# Sections

START_MARKER, END_MARKER = "# --8<-- [start:{}]\n", "# --8<-- [end:{}]\n"


def test_a_section_is_the_text_between_its_markers(tmp_path):
    path = tmp_path / "a.js"
    path.write_text("// --8<-- [start:a]\nlet x;\n\n// --8<-- [end:a]\nlet y;\n")
    assert read_sections(path) == {"a": "let x;\n\n"}
    assert without_section_markers(path) == "let x;\n\nlet y;\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n" + START_MARKER.format("a") + "x\n", "2: section a has no end marker"),
        (2 * (START_MARKER.format("a") + END_MARKER.format("a")), "3: duplicate section a"),
    ],
)
def test_unmatched_markers_are_reported_with_file_and_line(sample_folder, text, message):
    path = sample_folder / "snippets/tiny.py"
    path.write_text(text)
    with pytest.raises(SourceError, match=f"snippets/tiny.py:{message}; "):
        read_sections(path)


# References to missing files, sections, values and figures

INVALID_REFERENCES = [
    ('"tiny.py:first"', '"tiny.py:second"', "no section second in tiny.py; it has: first"),
    ("chapter/say.txt", "chapter/none.txt", "missing file outputs/examples/chapter/none.txt"),
    ("say: number", "none: number", "unknown example in {{ chapter/none: number }}"),
    ("chapter/line.svg", "chapter/none.svg", "missing figure figures/chapter/none.svg; correct"),
    ("A line that rises.", "", "figures/chapter/line.svg has no alternative text"),
    ("{{ chapter/say", "{{chapter/say", "write {{chapter/say: number }} as {{ chapter/example: "),
    ('"tiny.py:first"', "tiny.py:first", 'write --8<-- tiny.py:first as --8<-- "FILE:SECTION"'),
    ("## Section", "# Section", "2 titles; begin the page with one, # TITLE"),
    ("$x^2$", "$$x^2$", "this formula has no end; add $$"),
    ("$x^2$", "It is so.[^b]", "there is no footnote b; add a paragraph [^b]: @KEY."),
]


@pytest.mark.parametrize(("old", "new", "message"), INVALID_REFERENCES)
def test_an_invalid_reference_is_reported_with_its_line(generated_book, old, new, message):
    at = line_of(generated_book / PAGE_PATH, old)
    change(generated_book / PAGE_PATH, old, new)
    assert is_reported(f"{PAGE_PATH}:{at}: {message}"), error_messages()


# Files and outputs that no page shows


def test_a_file_without_sections_must_be_shown_once(generated_book):
    (generated_book / "snippets/alone.py").write_text("x = 1\n")
    problem = "snippets/alone.py:1: docs/{} shows the file {} times"
    assert is_reported(problem.format("en", 0)) and is_reported(problem.format("zh", 0))
    change(generated_book / PAGE_PATH, "## Section", '--8<-- "alone.py"\n\n## Section')
    assert not is_reported(problem.format("en", 1))
    change(generated_book / PAGE_PATH, "## Section", '--8<-- "alone.py"\n\n## Section')
    assert is_reported(problem.format("en", 2))


def test_an_output_is_shown_by_an_include_or_by_a_value(generated_book):
    where = "snippets/examples/chapter/say.py:1: no page of docs/en shows outputs/examples/"
    change(generated_book / PAGE_PATH, '--8<-- "outputs/examples/chapter/say.txt"', "")
    assert not is_reported(where)
    change(generated_book / PAGE_PATH, "{{ chapter/say: number }}", "")
    assert is_reported(where)


# Values and the glossary


def test_values_are_filled_into_prose_and_not_into_code(generated_book):
    text = "It is {{ chapter/say: number }}.\n\n```text\n{{ chapter/say: number }}\n```\n"
    assert replace_values(text) == text.replace("{{ chapter/say: number }}", "42", 1)


def test_the_glossary_is_a_table(generated_book):
    letters, opening, table, end = glossary_table("zh").split("\n\n")
    assert letters == "[T](#letter-t)\n{ .letters }"
    assert opening == '<div class="glossary" markdown>'
    term = '<span id="token"></span><span id="letter-t"></span>词元 | token'
    where = '<span class="where">[其他](other.md#there)</span>'
    assert table.splitlines()[2:] == [f"| {term} | 一段{where} |"]
    assert end == "</div>\n"


def test_a_term_must_have_its_page_and_its_anchor_in_both_languages(generated_book):
    assert not [*glossary_errors()]
    change(generated_book / "docs/zh/other.md", "{ #there }", "{ #here }")
    (problem,) = map(str, glossary_errors())
    assert problem.startswith("docs/glossary.yml:1: docs/zh/other.md has no anchor #there")
    change(generated_book / "docs/glossary.yml", "other.md", "none.md")
    (problem, *_) = map(str, glossary_errors())
    assert problem.startswith("docs/glossary.yml:1: page docs/en/none.md doesn't exist")
