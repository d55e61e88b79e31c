"""Claims and mutations are read from the tests, and listed with what the proofs measured."""

import ast
import importlib
import re
import runpy

import pytest
import torch

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.page import SourcePage
from bookbuild.pages.paths import LANGUAGES
from bookbuild.reference import claims
from bookbuild.run.jobs import dependencies
from built_pages import ROOT
from sample_book import change, line_of

CLAIM_TESTS = """\
@claim("other#there")
@mutation("tiny.py", "2 * x", "3 * x", fault="a product is wrong")
@mutation("tiny.py", "2 * x", "2 + x", fault="a product is a sum")
def test_two_and_two_are_four():
    compare_sums(2 + 2, 4)


@claim("index", kind="mathematics")
@few
def test_the_page_as_a_whole():
    pass


def helper():
    pass
"""


@pytest.fixture
def book_with_claims(sample_folder):
    """The sample book with claims of its page other.md."""
    write_file(sample_folder / "tests/claims/test_other.py", CLAIM_TESTS)
    return sample_folder


def write_measurements(*lines: str) -> None:
    write_file(paths.GENERATED / "outputs/proofs/some.txt", "".join(f"{each}\n" for each in lines))


def claims_of_other() -> list[claims.Claim]:
    (path,) = claims.test_files()["other"]
    return claims.claims_in(path)


def claim_error_messages() -> list[str]:
    return [str(error) for error in claims.claim_errors()]


def test_a_claim_has_the_place_that_its_decorator_names(book_with_claims):
    assert [claim.place for claim in claims_of_other()] == ["other.md#there", "index.md"]
    assert claim_error_messages() == []


def test_a_claim_lists_its_mutations_in_order(book_with_claims):
    caught = [[mutation.fault for mutation in claim.mutations] for claim in claims_of_other()]
    assert caught == [["a product is wrong", "a product is a sum"], []]
    assert claims_of_other()[0].mutations[0][:3] == ("tiny.py", "2 * x", "3 * x")


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        (
            '@claim("index", kind="mathematics")\n',
            "",
            "def test_the",
            "test_the_page_as_a_whole has 0 @claim",
        ),
        ("@few", '@claim("other")', "def test_the", "test_the_page_as_a_whole has 2 @claim decora"),
        (
            '("index", kind="mathematics")',
            "(PAGE)",
            "@claim(PAGE)",
            "@claim takes 1 literal strings: place",
        ),
        (
            '"mathematics"',
            '"other"',
            "def test_the",
            "kind is code, mathematics, measurement, not",
        ),
        ("product is wrong", '" + WHAT + "', "3 * x", "@mutation takes 4 literal strings: file, o"),
        (', fault="a product is wrong"', "", "3 * x", "@mutation takes 4 literal strings: file, o"),
        ("2 + 2", "2 +", "compare", "invalid syntax; correct the syntax"),
    ],
)
def test_a_malformed_declaration_is_reported_with_its_line(
    book_with_claims, old, new, where, message
):
    path = book_with_claims / "tests/claims/test_other.py"
    change(path, old, new)
    with pytest.raises(SourceError) as raised:
        claims.all_claims()
    assert str(raised.value).startswith(
        f"tests/claims/test_other.py:{line_of(path, where)}: {message}"
    )


def test_a_page_without_claims_has_a_note_instead_of_a_table(book_with_claims):
    claims.write()
    assert (paths.GENERATED / "en/claims/index.md").read_text() == "No claim yet.\n"
    assert (paths.GENERATED / "zh/claims/index.md").read_text() == "还没有论断。\n"
    assert "2 claims, 2 changes" in (paths.GENERATED / "en/claims/other.md").read_text()


@pytest.mark.parametrize("language", LANGUAGES)
def test_measurements_are_shown_with_their_claim_and_in_a_table(book_with_claims, language):
    write_measurements(
        "Python: 3",
        "compare_sums, float32: 1.5e-07 of 1e-06",
        "compare_sums, float32, gradients: 2.5e-07 of 1e-06",
        "compare_sums, float64: 0 of 1e-12",
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


def test_a_missing_anchor_is_reported_with_its_test(book_with_claims):
    page = book_with_claims / "docs/zh/other.md"
    change(page, "#there", "#elsewhere")
    path = book_with_claims / "tests/claims/test_other.py"
    (problem, *_) = claim_error_messages()
    where = f"tests/claims/test_other.py:{line_of(path, 'def test_two')}"
    assert problem.startswith(
        f"{where}: docs/zh/other.md has no anchor #there; correct other.md#there"
    )


def test_a_claim_about_code_without_a_mutation_is_reported(book_with_claims):
    path = book_with_claims / "tests/claims/test_other.py"
    change(path, ', kind="mathematics"', "")
    (message,) = claim_error_messages()
    where = f"tests/claims/test_other.py:{line_of(path, 'def test_the_page')}"
    assert message == (
        f"{where}: test_the_page_as_a_whole is about code and has no @mutation; add one, or "
        "name another kind"
    )


def test_a_test_file_without_a_page_is_reported(book_with_claims):
    write_file(book_with_claims / "tests/claims/test_nothing.py", CLAIM_TESTS)
    assert "test_nothing.py:1: its claims belong to no page" in claim_error_messages()[0]


def test_a_measurement_without_a_claim_is_reported(book_with_claims):
    write_measurements("compare_products, float32: 1e-07 of 1e-06")
    assert claim_error_messages()[0].endswith("no claim calls compare_products; call it in a test")


def test_claims_missing_on_the_page_proofs_are_reported(book_with_claims):
    for language in LANGUAGES:
        write_file(book_with_claims / f"docs/{language}/proofs.md", "# Proofs\n")
    assert (
        'docs/en/proofs.md:1: shows no claims of other: --8<-- "claims/other.md"'
        in claim_error_messages()
    )


# In the real book


def test_every_claim_of_the_book_has_a_place():
    assert claim_error_messages() == []
    declared = claims.all_claims()
    test_names = [
        node.name
        for path in sorted((ROOT / "tests/claims").glob("test_*.py"))
        if path.name != claims.NO_CLAIMS
        for node in ast.parse(path.read_bytes()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert sorted(claim.test.partition("::")[2] for claim in declared) == sorted(test_names)
    claims_with_anchor = [claim for claim in declared if "#" in claim.place]
    assert len(claims_with_anchor) > 0.95 * len(declared)


def test_every_comparison_is_measured_within_its_bound():
    source = (ROOT / "tests/claims/comparisons.py").read_text(encoding="utf-8")
    assert sorted(claims.measurements()) == sorted(re.findall(r"^def (compare_\w+)", source, re.M))
    figures = [figure for each in claims.measurements().values() for figure in each]
    assert {figure.numbers for figure in figures} == {"float32", "float64"}
    assert all(float(figure.value) <= float(figure.bound) for figure in figures)


def test_a_changed_comparison_repeats_the_measurements():
    names = {path.name for path in dependencies(ROOT / "scripts/proofs/equalities.py")}
    assert {"comparisons.py", "references.py", "transformer.py", "rotary.py"} <= names


def test_a_measurement_above_its_bound_stops_the_build(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tests/claims")
    comparisons = importlib.import_module("comparisons")

    def compare_table(*_):
        return comparisons.check([torch.tensor(3e-6)], [torch.tensor(1e-6)], 1e-6)

    monkeypatch.setattr(comparisons, "compare_table", compare_table)
    message = "compare_table, float32: 2.0e-06 exceeds the claim's bound 1e-06"
    with pytest.raises(ValueError, match=re.escape(message)):
        runpy.run_path(str(ROOT / "scripts/proofs/equalities.py"))
