"""reading_time.py estimates the reading time of a page, in both languages."""

from types import SimpleNamespace
from typing import Any

import pytest

from bookbuild.mkdocs_site.markdown_extension import finish_html
from bookbuild.mkdocs_site.site_output import with_minutes
from bookbuild.reference import reading_time

TWENTY_MINUTE_WORDS = reading_time.WORDS_PER_MINUTE * 20
TWENTY_MINUTE_TEXT = "<p>" + "word " * TWENTY_MINUTE_WORDS + "</p>"


def code_blocks_html(count: int) -> str:
    one = (
        '<div class="language-python highlight"><pre><span></span><code>'
        + "x = 1\n" * 50
        + "</code></pre></div>"
    )
    return one * count


def test_words_and_chinese_characters_add_reading_time():
    assert reading_time.reading_minutes(TWENTY_MINUTE_TEXT) == 20
    assert (
        reading_time.reading_minutes(f"<p>{'字' * reading_time.CHARACTERS_PER_MINUTE * 20}</p>")
        == 20
    )
    assert (
        reading_time.reading_minutes(
            TWENTY_MINUTE_TEXT + f"<p>{'字，' * reading_time.CHARACTERS_PER_MINUTE * 10}</p>"
        )
        == 30
    )


def test_a_word_with_a_hyphen_or_an_apostrophe_counts_once():
    assert reading_time.WORD_PATTERN.findall("don't d_model 3.14 two-part, 注意力 x") == [
        "don't",
        "d_model",
        "3.14",
        "two-part",
        "x",
    ]


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        (code_blocks_html(1), "code"),
        (f'<svg viewBox="0 0 1 1"><text>{"word " * 200}</text></svg>', "figure"),
        (f'<div class="arithmatex">\\[{"a b " * 200}\\]</div>', "displayed formula"),
        (f'<span class="arithmatex">\\({"a b " * 200}\\)</span>', "formula"),
    ],
)
def test_code_figures_and_formulas_add_a_fixed_time_each(html, kind):
    count = 600 // reading_time.SECONDS_AND_PATTERNS[kind][0]  # ten minutes
    assert reading_time.reading_minutes(TWENTY_MINUTE_TEXT + html * count) == 30


@pytest.mark.parametrize(
    "html",
    [
        f"<details><summary>Answer</summary>{TWENTY_MINUTE_TEXT}{code_blocks_html(40)}</details>",
        f'<div class="footnote"><ol><li>{TWENTY_MINUTE_TEXT}</li></ol></div>',
        f'<p class="reading" data-search-exclude="">{TWENTY_MINUTE_TEXT}</p>',
    ],
)
def test_folded_blocks_and_footnotes_are_not_counted(html):
    assert reading_time.reading_minutes(TWENTY_MINUTE_TEXT + html) == 20


def test_minutes_are_rounded_to_steps_and_never_zero():
    assert reading_time.reading_minutes("<p>word</p>") == reading_time.ROUNDING_MINUTES
    assert (
        reading_time.reading_minutes(
            "<p>" + "word " * (reading_time.WORDS_PER_MINUTE * 12) + "</p>"
        )
        == 10
    )
    assert (
        reading_time.reading_minutes(
            "<p>" + "word " * (reading_time.WORDS_PER_MINUTE * 13) + "</p>"
        )
        == 15
    )


@pytest.mark.parametrize(
    ("language", "needs", "line"),
    [
        ("en", ["one", "[b](b.md)"], "About MINUTES minutes to read. You need: one; [b](b.md)."),
        ("zh", ["一", "[乙](b.md)"], "读一遍约 MINUTES 分钟。预备知识：一；[乙](b.md)。"),
        ("en", [], "About MINUTES minutes to read."),
    ],
)
def test_the_reading_line_is_below_the_title_and_not_in_the_search(language, needs, line):
    page = reading_time.add_reading_line("---\na: b\n---\n\n# Title\n\nText.\n", needs, language)
    attributes = '{ .reading data-search-exclude="" }'
    assert page == f"---\na: b\n---\n\n# Title\n\n{line}\n{attributes}\n\nText.\n"


def test_the_minutes_are_filled_into_the_reading_line_only():
    html = f'<p class="reading">About MINUTES minutes.</p>{TWENTY_MINUTE_TEXT}<p>MINUTES</p>'
    page = SimpleNamespace(language="en", name="index.md", meta={"needs": []})
    book: Any = SimpleNamespace(page=page, repository="")
    filled = finish_html(html, book)
    assert filled.startswith('<p class="reading">About 20 minutes.</p>')
    assert filled.endswith("<p>MINUTES</p>")
    assert with_minutes("About MINUTES minutes. MINUTES", filled) == "About 20 minutes. MINUTES"
    book.page.meta = {}
    assert finish_html("<p>MINUTES</p>", book) == "<p>MINUTES</p>"
    assert with_minutes("MINUTES", "<p>1 MINUTES</p>") == "MINUTES"
