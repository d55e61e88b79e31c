"""Errors in the sources are reported with file and line."""

import pytest

from bookbuild.check.includes import completeness_errors, page_errors
from bookbuild.check.mark_translated import mark_translated
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.glossary import glossary_errors, glossary_table, search_names
from bookbuild.pages.page import SourcePage, list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import read_sections, section_errors, without_section_markers
from bookbuild.pages.values import replace_values, resolve_value
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


def test_an_intact_book_has_no_errors(generated_book):
    assert error_messages() == []


# Sections


def section_error(path, text: str) -> str:
    path.write_text(text)
    with pytest.raises(SourceError) as error:
        read_sections(path)
    return str(error.value)


START_MARKER, END_MARKER = "# --8<-- [start:{}]\n", "# --8<-- [end:{}]\n"


def test_a_section_is_the_text_between_its_markers(tmp_path):
    path = tmp_path / "code.py"
    path.write_text(START_MARKER.format("a") + "x = 1\n\n\n" + END_MARKER.format("a") + "y = 2\n")
    assert read_sections(path) == {"a": "x = 1\n\n\n"}
    assert without_section_markers(path) == "x = 1\n\n\ny = 2\n"


def test_sections_of_javascript_are_marked_by_its_own_comments(tmp_path):
    path = tmp_path / "code.js"
    path.write_text("// --8<-- [start:a]\nlet x;\n\n// --8<-- [end:a]\nlet y;\n")
    assert read_sections(path) == {"a": "let x;\n\n"}
    assert without_section_markers(path) == "let x;\n\nlet y;\n"


def test_a_section_of_javascript_that_no_page_shows_is_reported(generated_book):
    text = "// --8<-- [start:a]\nlet x;\n// --8<-- [end:a]\n"
    (generated_book / "snippets/code.js").write_text(text)
    assert is_reported("snippets/code.js:1: docs/en shows section a 0 times")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n" + START_MARKER.format("a") + "x\n", "2: section a has no end marker"),
        (
            START_MARKER.format("a") + START_MARKER.format("b") + END_MARKER.format("b"),
            "1: section a has no end marker",
        ),
        (START_MARKER.format("a") + END_MARKER.format("b"), "1: section a has no end marker"),
        (END_MARKER.format("a"), "1: unmatched end marker of section a"),
        (2 * (START_MARKER.format("a") + END_MARKER.format("a")), "3: duplicate section a"),
    ],
)
def test_unmatched_markers_are_reported_with_file_and_line(sample_folder, text, message):
    problem = section_error(sample_folder / "snippets/tiny.py", text)
    assert problem.startswith(f"snippets/tiny.py:{message}; ")


# References to missing files, sections, values and figures

INVALID_REFERENCES = [
    ('"tiny.py:first"', '"tiny.py:second"', "no section second in tiny.py; it has: first"),
    ('"tiny.py:first"', '"none.py:first"', "missing file none.py in snippets/ or .generated/"),
    ("chapter/say.txt", "chapter/none.txt", "missing file outputs/examples/chapter/none.txt"),
    ("say: number", "say: nonesuch", "0 lines of outputs/examples/chapter/say.txt start"),
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
    assert any(each.startswith(f"{PAGE_PATH}:{at}: {message}") for each in error_messages()), (
        error_messages()
    )


def test_a_start_marker_without_an_end_is_reported_once_with_its_line(generated_book):
    change(generated_book / "snippets/tiny.py", END_MARKER.format("first"), "")
    errors = [each for each in error_messages() if "has no end marker" in each]
    how = "add --8<-- [end:first] below it"
    assert set(errors) == {f"snippets/tiny.py:1: section first has no end marker; {how}"}


def test_code_blocks_may_show_braces_and_pages_may_not(generated_book):
    change(
        generated_book / PAGE_PATH,
        "## Section",
        "```text\n{{ chapter/none: a }}\n```\n\n## Section",
    )
    assert not [each for each in error_messages() if "none" in each]


# Sections, outputs and figures that no page shows


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("old", "message"),
    [
        ('--8<-- "tiny.py:first"', "snippets/tiny.py:1: docs/{} shows section first 0 times"),
        ("](figures/chapter/line.svg)", "scripts/figures/chapter.py:1: no page of docs/{}"),
    ],
)
def test_sections_and_figures_that_no_page_shows_are_reported(
    generated_book, language, old, message
):
    change(generated_book / f"docs/{language}/index.md", old, "]()" if old[0] == "]" else "")
    assert any(each.startswith(message.format(language)) for each in error_messages()), (
        error_messages()
    )


def test_a_file_without_sections_must_be_shown_whole(generated_book):
    (generated_book / "snippets/alone.py").write_text("x = 1\n")
    for language in LANGUAGES:
        assert is_reported(f"snippets/alone.py:1: docs/{language} shows the file 0 times")
    change(
        generated_book / PAGE_PATH,
        '--8<-- "tiny.py:first"\n',
        '--8<-- "tiny.py:first"\n--8<-- "alone.py"\n',
    )
    assert not [each for each in error_messages() if "alone" in each and "docs/en" in each]


def test_a_section_shown_twice_is_reported(generated_book):
    include = '--8<-- "tiny.py:first"\n'
    change(generated_book / PAGE_PATH, include, include + include)
    assert is_reported("snippets/tiny.py:1: docs/en shows section first 2 times")


def test_an_output_is_shown_by_an_include_or_by_a_value(generated_book):
    where = "snippets/examples/chapter/say.py:1: no page of docs/en shows outputs/examples/"
    change(generated_book / PAGE_PATH, '--8<-- "outputs/examples/chapter/say.txt"', "")
    assert not is_reported(where)
    change(generated_book / PAGE_PATH, "{{ chapter/say: number }}", "")
    assert is_reported(where)


# The two languages


def test_a_page_without_translation_is_reported(generated_book):
    (generated_book / "docs/zh/other.md").unlink()
    assert is_reported("docs/en/other.md:1: no translation docs/zh/other.md")
    (generated_book / "docs/zh/more.md").write_text("# 更多\n", encoding="utf-8")
    assert is_reported("docs/zh/more.md:1: no translation docs/en/more.md")


def test_a_changed_english_page_is_reported_until_its_translation_is_marked(generated_book):
    change(generated_book / PAGE_PATH, "# Small", "# Smaller")
    assert [
        each
        for each in error_messages()
        if each.startswith("docs/zh/index.md:1: docs/en/index.md has")
    ]
    mark_translated("index")
    assert error_messages() == []


def test_marking_a_page_as_translated_changes_only_the_hash(generated_book):
    page = SourcePage("zh", "index.md")
    before = page.text
    assert f"translated: {page.translation.digest()}" in before
    mark_translated("index.md")
    assert page.text == before
    page.path.write_text("# 一页\n", encoding="utf-8")
    mark_translated("index")
    assert page.text == f"---\ntranslated: {page.translation.digest()}\n---\n\n# 一页\n"
    assert page.meta == {"translated": page.translation.digest()}


def test_marking_a_missing_page_is_rejected(generated_book):
    with pytest.raises(FileNotFoundError, match=r"no page docs/en/nonesuch\.md"):
        mark_translated("nonesuch")


# Values and the glossary


def test_values_are_filled_into_prose_and_not_into_code(generated_book):
    text = "It is {{ chapter/say: number }}.\n\n```text\n{{ chapter/say: number }}\n```\n"
    assert replace_values(text) == text.replace("{{ chapter/say: number }}", "42", 1)


def test_a_label_that_is_printed_twice_is_rejected(generated_book):
    write_file(paths.GENERATED / "outputs/examples/chapter/say.txt", "number: 1\nnumber: 2\n")
    with pytest.raises(ValueError, match=r"2 lines of .* start with 'number: '"):
        resolve_value("chapter/say: number")


def test_the_glossary_is_a_table_in_each_language(generated_book):
    spans = '<span id="token"></span><span id="letter-t"></span>'
    where = '<span class="where">[{}](other.md#there)</span>'
    rows = {
        "en": f"| {spans}token | 词元 | a piece {where.format('Other')} |",
        "zh": f"| {spans}词元 | token | 一段{where.format('其他')} |",
    }
    for language, row in rows.items():
        letters, opening, table, end = glossary_table(language).split("\n\n")
        assert letters == "[T](#letter-t)\n{ .letters }"
        assert opening == '<div class="glossary" markdown>'
        assert table.splitlines()[2:] == [row]
        assert end == "</div>\n"


@pytest.mark.parametrize(
    ("language", "term", "word"), [("en", "token; 词元", "piece"), ("zh", "词元; token", "片段")]
)
def test_the_search_finds_a_section_by_its_terms_and_by_other_words(
    generated_book, language, term, word
):
    assert [*search_names(language)] == [("other.md#there", term), ("other.md", word)]


GLOSSARY_PATH = "docs/glossary.yml"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("other.md#there", "none.md#there", "page docs/en/none.md doesn't exist"),
        ("other.md#there", "other.md#none", "docs/en/other.md has no anchor #none"),
        ("other.md#there", "other.md", "docs/en/other.md has no anchor #;"),
        ("where: other.md#there, ", "", "entry without where; each needs en, zh, anchor, where"),
        (
            "zh_meaning: 一段",
            "zh_meaning: \x01",
            "invalid YAML: special characters are not allowed; remove the character #x0001",
        ),
        ("zh_meaning: 一段", "zh_meaning: 一段, nto: [令牌]", "unknown key nto; use one of en, "),
    ],
)
def test_an_invalid_term_is_reported_with_its_line(generated_book, old, new, message):
    assert not [*glossary_errors()]
    change(generated_book / GLOSSARY_PATH, "- {", "# A note.\n\n- {")
    change(generated_book / GLOSSARY_PATH, old, new)
    try:
        error = next(glossary_errors())
    except SourceError as raised:
        error = raised
    assert str(error).startswith(f"{GLOSSARY_PATH}:3: {message}")


def test_a_term_must_have_its_anchor_in_both_languages(generated_book):
    change(generated_book / "docs/zh/other.md", "{ #there }", "{ #here }")
    (problem,) = map(str, glossary_errors())
    assert problem.startswith(f"{GLOSSARY_PATH}:1: docs/zh/other.md has no anchor #there")


def test_a_file_is_written_only_if_its_bytes_change(tmp_path):
    path = tmp_path / "folder/file"
    write_file(path, "text")
    first = path.stat()
    write_file(path, "text")
    assert path.stat().st_mtime_ns == first.st_mtime_ns
    assert path.stat().st_mode & 0o777 == 0o644
    write_file(path, "other")
    assert path.read_text() == "other"
    assert [*path.parent.iterdir()] == [path]
