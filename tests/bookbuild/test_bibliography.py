"""bibliography.py formats and lists references, and reports their errors."""

import re

import pytest

from bookbuild.generated import bibliography
from bookbuild.pages.paths import LANGUAGES
from sample_book import change

PREPRINT = r"""@misc{lovelace2019engines,
  author = {Lovelace, Ada and others},
  title = {On {Engines}},
  year = {2019},
  eprint = {1905.00001},
}
"""
ONLINE_REFERENCE = (
    '@online{abel, author = {Abel, Zo{\\"e}}, title = {Later}, url = {https://www.a.org/b}}\n'
)
PREPRINT_LINK = "[arXiv:1905.00001](https://arxiv.org/abs/1905.00001)"
MANUAL = r"""@manual{linear,
  author = {{PyTorch documentation}},
  author_zh = {PyTorch 文档},
  title = {\texttt{nn.some\_Linear}},
  url = {https://a.org/b},
}
"""
ARTICLE = "@article{g, author={A B and C D}, title={T}, journal={J}, volume=9, number=1, doi={1/a}}"


@pytest.mark.parametrize(
    ("bibtex", "english", "chinese"),
    [
        (
            PREPRINT,
            f"Ada Lovelace et al., *On Engines*, 2019, {PREPRINT_LINK}",
            f"Ada Lovelace 等，*On Engines*，2019，{PREPRINT_LINK}",
        ),
        (
            MANUAL,
            "PyTorch documentation, [`nn.some_Linear`](https://a.org/b)",
            "PyTorch 文档，[`nn.some_Linear`](https://a.org/b)",
        ),
        (
            ARTICLE,
            "A B and C D, *T*, J 9 (1), [doi:1/a](https://doi.org/1/a)",
            "A B、C D，*T*，J 9 (1)，[doi:1/a](https://doi.org/1/a)",
        ),
    ],
)
def test_a_reference_is_formatted_in_both_languages(bibtex, english, chinese):
    (reference,) = bibliography.parse_references(bibtex).values()
    assert bibliography.format_reference(reference, "en") == english
    assert bibliography.format_reference(reference, "zh") == chinese


# In the sample book


def add_footnotes(sample_folder, *notes: str, page: str = "other.md") -> None:
    """Give a page these footnotes in both languages."""
    for language in LANGUAGES:
        with open(sample_folder / "docs" / language / page, "a", encoding="utf-8") as file:
            for i, note in enumerate(notes):
                file.write(f"\nText.[^n{i}]\n\n[^n{i}]: {note}\n")


@pytest.fixture
def book_with_references(sample_folder):
    """The sample book with two references."""
    (sample_folder / "docs/references.bib").write_text(
        PREPRINT + ONLINE_REFERENCE, encoding="utf-8"
    )
    return sample_folder


def error_messages() -> list[str]:
    found = [*bibliography.reference_errors(), *bibliography.unused_references()]
    return [str(error) for error in found]


def test_only_keys_in_footnotes_are_expanded(book_with_references):
    text = (
        "@abel writes.[^a] `@abel`\n\n[^a]: See: @abel, p. 1; a@abel.org.\n    @abel。\n\n@abel\n"
    )
    link = "[www.a.org](https://www.a.org/b)"
    assert bibliography.expand_citations(text, "en") == (
        f"@abel writes.[^a] `@abel`\n\n[^a]: See: Zoë Abel, *Later*, {link}, p. 1; a@abel.org.\n"
        f"    Zoë Abel, *Later*, {link}。\n\n@abel\n"
    )


def test_a_reference_is_listed_once_with_every_page_that_cites_it(book_with_references):
    add_footnotes(
        book_with_references,
        "@lovelace2019engines, table 3.",
        "@lovelace2019engines; but see: @abel.",
    )
    add_footnotes(book_with_references, "@lovelace2019engines.", page="index.md")
    assert error_messages() == []
    listed = bibliography.list_references("en", software=False).splitlines()
    assert [line.split(",")[0] for line in listed] == ["- Zoë Abel", "- Ada Lovelace et al."]
    assert listed[1].endswith(". In [Small](index.md#fn:n0), [Other](other.md#fn:n0).")
    chinese = bibliography.list_references("zh", software=False).splitlines()
    assert chinese[1].endswith("。见[小书](index.md#fn:n0)、[其他](other.md#fn:n0)。")
    assert bibliography.list_references("en", software=True) == ""


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("  title = {On {Engines}},\n", "", 1, "has no title"),
        ("{2019}", "{2022}", 1, "has year 2022, but arXiv:1905.00001 is from 2019"),
        (PREPRINT, f"{PREPRINT}{PREPRINT.replace('engines', 'motors')}", 7, "has the link of"),
    ],
)
def test_an_entry_with_an_error_is_reported_at_its_line(
    book_with_references, old, new, line, message
):
    add_footnotes(book_with_references, "@abel.")
    change(book_with_references / "docs/references.bib", old, new)
    key = "lovelace2019motors" if line == 7 else "lovelace2019engines"
    found = error_messages()
    assert any(each.startswith(f"docs/references.bib:{line}: {key} {message}") for each in found)


# In the real book


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_footnote_is_linked_from_the_lists(language):
    listed = "".join(
        bibliography.list_references(language, software=software) for software in (False, True)
    )
    citations = bibliography.find_citations(language)
    assert len(citations) > 90
    references = bibliography.load_references()
    for citation in citations:
        for key in citation.keys:
            text = bibliography.format_reference(references[key], language)
            (line,) = [line for line in listed.splitlines() if line.startswith(f"- {text}")]
            assert f"({citation.page.name}#fn:" in line
    numbers = re.findall(r"\[arXiv:([\d.]+)\]", listed)
    assert len(numbers) == len(set(numbers)) > 50
