"""claims.py finds every claim, its place in a page, and what was measured of it."""

import ast
import re

import pytest

from bookbuild.pages import paths
from bookbuild.pages.files import write_file
from bookbuild.pages.page import SourcePage
from bookbuild.pages.paths import LANGUAGES
from bookbuild.reference import claims
from built_pages import ROOT
from sample_book import change, line

TESTS = """\
# The first section: #there


def test_two_and_two_are_four():
    assert 2 + 2 == 4


@few
def test_the_example_says_it(printed):
    assert printed("examples", "say", "chapter")["number"] == "42"


# Elsewhere: index.md


def helper():
    pass


# A comment that names no place.
def test_a_page_as_a_whole():
    pass
"""
ROWS = """\
- {what: a sum is wrong, by: "test_other.py::test_two_and_two_are_four[case]"}
- {what: another, by: "test_other.py::test_two_and_two_are_four"}
"""


@pytest.fixture
def told(small):
    """A small book with claims of its page other.md."""
    write_file(small / "tests/snippets/test_other.py", TESTS)
    write_file(small / "tests/snippets/mutations-other.yml", ROWS)
    return small


def measure(*lines: str) -> None:
    write_file(paths.GENERATED / "outputs/proofs/some.txt", "".join(f"{each}\n" for each in lines))


def found() -> list[claims.Claim]:
    (path,) = claims.chapters()["other"]
    return claims.claims(path, "other")


def faults() -> list[str]:
    return [str(fault) for fault in claims.claim_errors()]


def test_a_claim_stands_where_the_comment_above_it_says(told):
    assert [claim.place for claim in found()] == ["other.md#there", "other.md#there", "index.md"]
    assert faults() == []


def test_a_claim_about_an_example_stands_where_the_page_shows_the_example(told):
    page = told / "docs/en/other.md"
    shown = "\n## Shown { #shown }\n\n{{ chapter/say: number }}\n\n## Last { #last }\n"
    page.write_text(page.read_text() + shown)
    assert [claim.place for claim in found()][:2] == ["other.md#there", "other.md#shown"]


def test_a_claim_knows_the_changes_that_it_catches(told):
    assert [claim.changes for claim in found()] == [["a sum is wrong", "another"], [], []]


def test_a_page_without_claims_has_a_table_that_says_so(told):
    claims.write()
    assert (paths.GENERATED / "en/claims/index.md").read_text() == "No claim yet.\n"
    assert (paths.GENERATED / "zh/claims/index.md").read_text() == "还没有论断。\n"
    assert "3 claims, 2 changes" in (paths.GENERATED / "en/claims/other.md").read_text()


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_measured_stands_with_its_claim_and_in_a_table_of_its_own(told, language):
    test = "test_other.py::test_two_and_two_are_four"
    measure(
        "Python: 3",
        f"{test}, float32: 1.5e-07 of 1e-06",
        f"{test}, float32, gradients: 2.5e-07 of 1e-06",
        f"{test}, float64: 0 of 1e-12",
    )
    claims.write()
    folder = paths.GENERATED / language / "claims"
    gradients = claims.WORDS[language]["gradients"]
    row = next(
        row for row in (folder / "other.md").read_text().splitlines() if "two and two" in row
    )
    for figure in ("float32 1.5e-07", f"float32, {gradients} 2.5e-07", "float64 0"):
        assert figure in row
    (row,) = (folder / "measured.md").read_text().splitlines()[2:]
    assert "(other.md#there)" in row
    assert (SourcePage(language, "other.md").text.split("# ")[1].splitlines()[0]) in row
    bare = re.sub("</?span[^>]*>", "", row)
    assert "| float32<br>float64 | 1.5e-07<br>0 | 2.5e-07 | 1e-06<br>1e-12 |" in bare


def test_a_place_that_is_gone_is_told_with_the_test_below_it(told):
    page = told / "docs/zh/other.md"
    change(page, "#there", "#elsewhere")
    path = told / "tests/snippets/test_other.py"
    (fault, *_) = faults()
    where = f"tests/snippets/test_other.py:{line(path, 'def test_two')}"
    assert fault.startswith(f"{where}: a comment above says other.md#there, which docs/zh has not;")


def test_claims_that_belong_to_no_page_are_told(told):
    write_file(told / "tests/snippets/test_nothing.py", TESTS)
    assert "test_nothing.py:1: its claims belong to no page" in faults()[0]


def test_a_figure_of_a_claim_that_is_no_more_is_told(told):
    measure("test_other.py::test_gone, float32: 1e-07 of 1e-06")
    assert faults()[0].endswith("there is no claim test_other.py::test_gone")


def test_claims_that_the_page_of_proofs_leaves_out_are_told(told):
    for language in LANGUAGES:
        write_file(told / f"docs/{language}/proofs.md", "# Proofs\n")
    assert 'docs/en/proofs.md:1: shows no claims of other: --8<-- "claims/other.md"' in faults()


# The book's own


def test_every_claim_of_the_book_has_its_place():
    assert faults() == []
    told = claims.all_claims()
    written = [
        node.name
        for path in sorted((ROOT / "tests/snippets").glob("test_*.py"))
        if path.name != claims.NO_CLAIMS
        for node in ast.parse(path.read_bytes()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert sorted(claim.test.partition("::")[2] for claim in told) == sorted(written)
    exact = [claim for claim in told if "#" in claim.place]
    assert len(exact) > 0.95 * len(told)


def reached(test: str) -> set[float]:
    """The numbers that a test and what it calls in its file compare with."""
    name, _, function = test.partition("::")
    tree = ast.parse((ROOT / "tests/snippets" / name).read_bytes())
    parts: dict[str, ast.AST] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            parts[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            parts[node.targets[0].id] = node.value
    todo, seen = [function], set()
    while todo:
        part = todo.pop()
        if part in parts and part not in seen:
            seen.add(part)
            todo += [n.id for n in ast.walk(parts[part]) if isinstance(n, ast.Name)]
    constants = [
        node.value
        for part in seen
        for node in ast.walk(parts[part])
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    ]
    small = {value for value in constants if 0 < value < 0.1}
    times = {value for value in constants if value in (10, 20)}  # 20 * NEAR[dtype]
    return small | {round(a * b, 20) for a in small for b in times}


DEFAULTS = {"float32": 1e-5, "float64": 1e-7}  # of torch.testing.assert_close
measured = sorted(claims.measurements().items())


@pytest.mark.parametrize(("test", "figures"), measured, ids=[test for test, _ in measured])
def test_each_figure_is_within_a_bound_that_its_claim_allows(test, figures):
    for figure in figures:
        value, bound = float(figure.value), float(figure.bound)
        assert value <= bound
        allowed = {0.0, DEFAULTS[figure.numbers], *reached(test)}
        assert any(bound == pytest.approx(each, rel=1e-6) for each in allowed)
        if not bound:
            assert figure.what.startswith("numbers changed")


def test_the_figures_cover_every_module_that_torch_has_too():
    told = " ".join(claims.measurements())
    for each in ("multi_head", "encoder_layer", "decoder_layer", "stacks", "nn_transformer"):
        assert each in told
    assert len(claims.measurements()) >= 15
    figures = [figure for each in claims.measurements().values() for figure in each]
    assert {figure.numbers for figure in figures} == {"float32", "float64"}


def test_a_figure_above_its_bound_stops_the_build():
    text = (ROOT / "scripts/proofs/equalities.py").read_text(encoding="utf-8")
    note = re.search(r"^def note.*?\n\n\n", text, re.M | re.S)[0]
    names = {"found": {}}
    exec(note, names)
    names["note"]("test_a.py::test_b", "float32", 1e-7, 1e-6)
    with pytest.raises(ValueError, match="though the test allows 1e-06"):
        names["note"]("test_a.py::test_b", "float32", 2e-6, 1e-6)
