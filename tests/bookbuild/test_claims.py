"""Claims and mutations are read from the tests, and listed with what was measured of them."""

import importlib.util
import re
import runpy
from collections.abc import Callable, Iterator

import pytest
import torch

from bookbuild.generated import claim_results, claim_tables, claims
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.page import list_pages
from bookbuild.pages.paths import LANGUAGES
from built_pages import ROOT
from evidence import comparisons, recorder
from sample_book import change, line_of

CLAIM_TESTS = """\
@claim("other#there")
@mutation("tiny.py", "2 * x", "3 * x", fault="a product is wrong")
@mutation("tiny.py", "2 * x", "2 + x", fault="a product is a sum")
def test_two_and_two_are_four():
    compare_sums(2 + 2, 4)


@claim("index", kind="mathematics")
@few
def test_the_page_as_a_whole(half):
    assert half(LIMIT) < double(2)


LIMIT = 2
"""
CONFTEST = "def half(x):\n    return x / 2\n"
FILES = [  # that it reads
    "snippets/examples/chapter/say.py",
    "snippets/tiny.py",
    "tests/claims/conftest.py",
    "tests/claims/test_other.py",
]


@pytest.fixture
def book_with_claims(sample_folder):
    """The sample book with claims of its page other.md, which the page tables.md lists."""
    write_file(sample_folder / "tests/claims/test_other.py", CLAIM_TESTS)
    change(sample_folder / "mkdocs.yml", "  - other.md\n", "  - A part:\n      - other.md\n")
    for language in LANGUAGES:
        text = '---\nclaims_of: [A part]\n---\n\n# Tables\n\n--8<-- "claims/tables.md"\n'
        write_file(sample_folder / f"docs/{language}/tables.md", text)
    return sample_folder


def write_measurements(*lines: str) -> None:
    write_file(paths.GENERATED / "outputs/proofs/some.txt", "".join(f"{each}\n" for each in lines))


def claim_error_messages() -> list[str]:
    return [str(error) for error in claims.claim_errors()]


def row_of_claim(name: str, language: str) -> str:
    """The row of a claim in the generated table."""
    table = (paths.GENERATED / language / "claims/tables.md").read_text(encoding="utf-8")
    (row,) = [line for line in table.splitlines() if name in line]
    return row


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        (
            '@claim("index", kind="mathematics")\n',
            "",
            "def test_the",
            "test_the_page_as_a_whole has 0",
        ),
        ("mathematics", "other", "def test_the", "kind is code, mathematics, measurement, not"),
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


def test_measurements_are_shown_with_their_claim_and_in_a_table(book_with_claims):
    write_measurements(
        "Python: 3",
        "compare_sums, float32: 1.5e-07 of 1e-06",
        "compare_sums, float32, gradients: 2.5e-07 of 1e-06",
        "compare_sums, float64: 0 of 1e-12",
    )
    claim_tables.write()
    counts = (paths.GENERATED / "en/claims/counts.md").read_text().splitlines()
    assert counts[2] == "| [Other](tables.md#other) | 1 | 2 | 1 | 0 |"
    row = row_of_claim("two and two", "zh")
    for figure in ("float32 1.5e-07", "float32, 梯度 2.5e-07", "float64 0"):
        assert figure in row
    measured = (paths.GENERATED / "zh/claims/measured.md").read_text(encoding="utf-8")
    (row,) = measured.splitlines()[2:]
    assert "(other.md#there)" in row and "其他" in row
    bare = re.sub("</?span[^>]*>", "", row)
    assert "| float32<br>float64 | 1.5e-07<br>0 | 2.5e-07 | 1e-06<br>1e-12 |" in bare


def test_a_test_file_without_a_page_is_reported(book_with_claims):
    write_file(book_with_claims / "tests/claims/test_nothing.py", CLAIM_TESTS)
    assert "test_nothing.py:1: its claims belong to no page" in claim_error_messages()[0]


def test_a_measurement_without_a_claim_is_reported(book_with_claims):
    write_measurements("compare_products, float32: 1e-07 of 1e-06")
    assert claim_error_messages()[0].endswith("no claim calls compare_products; call it in a test")


def test_claims_that_no_page_shows_are_reported(book_with_claims):
    for language in LANGUAGES:
        change(book_with_claims / f"docs/{language}/tables.md", "[A part]", "[Another part]")
    hint = "add its part of the nav to the list claims_of of a page: docs/{0}/tables.md"
    message = f"docs/{{0}}/other.md:1: no page shows its claims; {hint}"
    assert claim_error_messages() == [message.format(each) for each in LANGUAGES]


def test_a_claim_about_code_without_a_mutation_is_reported(book_with_claims):
    path = book_with_claims / "tests/claims/test_other.py"
    change(path, ', kind="mathematics"', "")
    (message,) = claim_error_messages()
    where = f"tests/claims/test_other.py:{line_of(path, 'def test_the_page')}"
    name = "test_the_page_as_a_whole"
    assert message.startswith(f"{where}: {name} is a claim about code without a mutation")


# What tests compare


@pytest.fixture
def record(book_with_claims) -> claim_results.Record:
    """The fresh record of a file of tests."""
    write_file(book_with_claims / "tests/claims/conftest.py", CONFTEST)
    mutations = {"test_two_and_two_are_four": ["tiny.py", "    x\n    2 * x", "    x\n    3 * x"]}
    comparisons = {"test_the_page_as_a_whole": ["1 < 4", "a[`0`] = b|c"]}
    record = claim_results.Record(claim_results.code_key(FILES), FILES, mutations, comparisons)
    claim_results.save_records({"test_other.py": record}, {"python": "3"})
    return record


def test_recorded_comparisons_and_mutations_are_shown_with_their_claim(record):
    path = paths.CLAIMS / "test_other.py"
    path.write_text(re.sub("^@mutation.*\n", "", path.read_text(), flags=re.M))
    claim_tables.write()
    shown = "<br><small>数学</small> | `1 < 4`<br>`a['0'] = b|c` |"
    assert row_of_claim("page as a whole", "zh").endswith(shown)
    assert row_of_claim("two and two", "zh").endswith("| `2 * x` → `3 * x` |")


@pytest.mark.parametrize(
    ("file", "old", "new", "stale"),
    [
        ("tests/claims/test_other.py", "half(LIMIT) <", "half(LIMIT) + 0 <", True),
        ("tests/claims/conftest.py", "x / 2", "x / 3", True),
        ("snippets/tiny.py", "2 * x", "3 * x", True),
        ("tests/claims/test_other.py", "half(LIMIT) <", "half(LIMIT)  <", False),
        ("scripts/figures/chapter.py", '"position"', '"place"', False),
    ],
)
def test_a_record_is_stale_after_a_change_of_what_the_tests_use(record, file, old, new, stale):
    assert record.is_fresh()
    change(paths.ROOT / file, old, new)
    assert record.is_fresh() == (not stale)


@pytest.fixture
def recorded(tmp_path) -> Iterator[Callable[[str], list[str]]]:
    """Runs code, and returns what its assertions have recorded."""
    start = "import functools, pytest, torch\nONES = torch.ones(2)\n"

    def run(code: str) -> list[str]:
        path = tmp_path / "asserting.py"
        path.write_text(f"{start}{code}\n")
        loader = recorder.Loader("asserting", str(path))
        spec = importlib.util.spec_from_file_location("asserting", path, loader=loader)
        loader.exec_module(importlib.util.module_from_spec(spec))
        return recorder.selected_texts(recorder.RECORDED)

    recorder.RECORDED.clear()
    yield run
    recorder.RECORDED.clear()


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ("assert 1 <= 2 < 3.5", ["1 ≤ 2 < 3.5"]),
        ("assert torch.tensor(0.40001) > 0.4", ["0.40001 > 0.4"]),
        ('shown = {"a label": "0.7"}\nassert float(shown["a label"]) > 0', ["a label = 0.7 > 0"]),
        ("assert len([1, 2]) == 2", ["len([1, 2]) = 2"]),
        ("assert {'a': 3} == pytest.approx({'a': 2}, rel=1)", ["Δ = 1 ≤ 2"]),
        ("close = functools.partial(torch.testing.assert_close, rtol=0, atol=1)\n"
         "close(ONES, ONES)\nclose(ONES, 1.5 * ONES)", ["Δ = 0.5 ≤ 1"]),
        ("assert torch.equal(ONES, ONES)", ["Δ = 0"]),
        ("assert not torch.equal(ONES, 2 * ONES)", ["not torch.equal(ONES, 2 * ONES)"]),
        ("with pytest.raises(KeyError):\n    raise KeyError", ["raises KeyError"]),
        ("assert ONES.all()\nassert 2 == 2\nassert 1 < 9\nassert 8 < 9\nassert 7 < 9",
         ["1 < 9", "8 < 9", "7 < 9"]),
    ],
)  # fmt: skip
def test_an_assertion_records_what_it_compares(recorded, code, texts):
    assert recorded(code) == texts


def test_a_failing_assertion_still_fails_and_records_nothing(recorded):
    with pytest.raises(AssertionError):
        recorded("assert all(x > 2 for x in (1, 3))")
    assert not recorder.RECORDED


# In the real book


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_test_that_a_page_names_exists(language):
    there = {claim.name for claim in claims.all_claims()}
    named = {
        (page.name, name)
        for page in list_pages(language)
        for name in re.findall(r"`(test_\w+)`", page.text)
    }
    assert len(named) >= 14
    assert [each for each in sorted(named) if each[1] not in there] == []


def test_every_comparison_is_measured():
    source = (ROOT / "scripts/evidence/comparisons.py").read_text(encoding="utf-8")
    assert sorted(claims.measurements()) == sorted(re.findall(r"^def (compare_\w+)", source, re.M))


def test_a_measurement_above_its_bound_stops_the_build(monkeypatch):
    def compare_table(*_):
        return comparisons.check([torch.tensor(3e-6)], [torch.tensor(1e-6)], 1e-6)

    monkeypatch.setattr(comparisons, "compare_table", compare_table)
    message = "compare_table, float32: 2.0e-06 exceeds the claim's bound 1e-06"
    with pytest.raises(ValueError, match=re.escape(message)):
        runpy.run_path(str(ROOT / "scripts/proofs/equalities.py"))
