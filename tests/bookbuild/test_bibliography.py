"""bibliography.py reads every footnote, lists each work once, and notices contradictions."""

import re

import pytest

from bookbuild.check import translation
from bookbuild.pages.page import list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.reference import bibliography
from bookbuild.reference.bibliography import Software, Work
from sample_book import change

ARXIV = "[arXiv:{0}](https://arxiv.org/abs/{0})".format
PAPER = f"Ada Lovelace et al., *On Engines*, 2019, section 2, {ARXIV('1905.00001')}."
WORK = Work(
    "Ada Lovelace et al.",
    "On Engines",
    "",
    "2019",
    "arXiv:1905.00001",
    "https://arxiv.org/abs/1905.00001",
)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (PAPER, WORK),
        (
            f"Ada Lovelace 等，*On Engines*，2019，第 2 节，{ARXIV('1905.00001')}。",
            WORK._replace(authors="Ada Lovelace 等"),
        ),
        (f"They drew it first: {PAPER}", WORK),
        (PAPER.replace("*, 2019", "* (Engine), Log 3 (1), 2019"), WORK._replace(venue="Log 3 (1)")),
        (PAPER.replace("section 2", "equation 1850"), WORK),
        ("Ada Lovelace, *Notes*, 1943.", Work("Ada Lovelace", "Notes", "", "1943", "", "")),
        (
            "minGPT, [issue 75](https://github.com/a/b/issues/75), *It leaks*, 2022.",
            Work("minGPT", "It leaks", "", "2022", "issue 75", "https://github.com/a/b/issues/75"),
        ),
    ],
)  # fmt: skip
def test_a_work_is_read_with_authors_title_year_and_address(text, wanted):
    assert bibliography.cited(text) == [wanted]


def test_two_works_of_one_footnote_keep_their_own_authors_and_addresses():
    other = PAPER.replace("Ada Lovelace et al.", "Mary Somerville").replace("1905", "1906")
    first, second = bibliography.cited(f"{PAPER[:-1]}; against it: {other}")
    assert first == WORK
    assert (second.authors, second.label) == ("Mary Somerville", "arXiv:1906.00001")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("PyTorch documentation, [`nn.Linear`](https://a.org/b), the bias.",
         Software("PyTorch documentation", ["[`nn.Linear`](https://a.org/b)"])),
        ("Tensor2Tensor，`layers/modalities.py`，函数 `get_weights`。",
         Software("Tensor2Tensor", ["`layers/modalities.py`"])),
        ("Somewhere it is said so.", None),
    ],
)  # fmt: skip
def test_software_is_named_with_its_links_and_files(text, wanted):
    assert bibliography.cited(text) == []
    assert bibliography.software(text) == wanted


# In a small book


def cite(small, *notes: str, page: str = "other.md") -> None:
    """Give both pages these footnotes."""
    for language in LANGUAGES:
        path = small / "docs" / language / page
        lines = [f"\nText.[^n{i}]\n\n[^n{i}]: {note}\n" for i, note in enumerate(notes)]
        path.write_text(path.read_text(encoding="utf-8") + "".join(lines), encoding="utf-8")


def told() -> list[str]:
    return [str(fault) for fault in bibliography.footnote_errors()]


def test_a_work_is_listed_once_with_every_page_that_cites_it(small):
    cite(small, PAPER, "The same, table 3.", "Zoe Abel, *Later*, 2001.")
    cite(small, PAPER.replace("section 2", "section 3"), page="index.md")
    assert told() == []
    listed = bibliography.works_list("en").splitlines()
    assert [line.split(",")[0] for line in listed] == ["- Zoe Abel", "- Ada Lovelace et al."]
    assert listed[1].endswith("In [Small](index.md#fn:n0), [Other](other.md#fn:n0).")
    assert (
        bibliography.works_list("zh")
        .splitlines()[1]
        .endswith("见[小书](index.md#fn:n0)、[其他](other.md#fn:n0)。")
    )


@pytest.mark.parametrize(
    ("note", "fault"),
    [
        ("Somewhere it is said so.", "cites neither a work"),
        ('Ada Lovelace, "Notes", 2019, arXiv:1905.00002.', "1905.00002 belongs to no title"),
        ("*Notes*, 2019.", "names no authors of *Notes*"),
        ("Ada Lovelace, *Notes*.", "gives neither year nor address of *Notes*"),
        (PAPER.replace("2019", "2015"), "arXiv:1905.00001 is of 2019, not of 2015"),
        (PAPER.replace("2019", "2024"), "arXiv:1905.00001 is of 2019, not of 2024"),
    ],
)
def test_a_footnote_that_cannot_be_read_is_told(small, note, fault):
    cite(small, note)
    assert any(each.startswith("docs/en/other.md:") and fault in each for each in told())


@pytest.mark.parametrize(
    ("old", "new"),
    [("On Engines", "On Motors"), ("Ada", "A."), ("2019", "2020"), ("1905.", "1906.")],
)
def test_two_footnotes_that_contradict_each_other_are_told(small, old, new):
    cite(small, PAPER, PAPER.replace(old, new))
    assert [each for each in told() if "what docs/en/other.md [^n0] cites as" in each]


def test_a_twin_that_cites_another_work_is_told(small):
    cite(small, PAPER)
    twin = small / "docs/zh/other.md"
    change(twin, PAPER, "Zoe Abel, *Later*, 2001.")
    assert any("[^n0] cites other works than its twin" in each for each in told())


# In the book


def test_every_footnote_of_the_book_is_read():
    assert told() == []
    for language in LANGUAGES:
        wanted = {
            (page.name, part.what)
            for page in list_pages(language)
            for part in translation.KINDS["footnote"](translation.parse_text(page.text))
        }
        found = {(note.page.name, f"[^{note.name}]:") for note in bibliography.notes(language)}
        assert found == wanted and len(wanted) > 90


@pytest.mark.parametrize("language", LANGUAGES)
def test_none_of_them_is_left_out_of_the_lists(language):
    listed = bibliography.works_list(language) + bibliography.software_list(language)
    for note in bibliography.notes(language):
        for work in note.works:
            (line,) = [line for line in listed.splitlines() if f"*{work.title}*" in line]
            assert f"({note.page.name}#fn:" in line
            assert listed.count(f"({work.url})") == 1 or not work.url
        for place in note.software.places if note.software else []:
            (line,) = [line for line in listed.splitlines() if place in line]
            assert f"({note.page.name}#fn:" in line
    numbers = re.findall(r"\[arXiv:([\d.]+)\]", listed)
    assert len(numbers) == len(set(numbers)) > 50
