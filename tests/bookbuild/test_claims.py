"""Claims and mutations are read from the tests, and listed with what was measured of them."""

import ast
import importlib.util
import re
import runpy
from collections.abc import Iterator
from types import ModuleType

import pytest
import torch

from bookbuild.generated import claim_results, claim_tables, claims
from bookbuild.mkdocs_site.markdown_extension import BookExtension, link_sources
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.page import SourcePage, list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.values import resolve_value
from bookbuild.run.jobs import dependencies
from built_pages import ROOT
from evidence import comparisons
from evidence import recorder as recorder_module
from evidence.mutants import process_pool
from evidence.recorder import record as record_file
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
        ('("index",', "(PAGE,", "@claim(PAGE,", "@claim takes 1 literal strings: place"),
        ("mathematics", "other", "def test_the", "kind is code, mathematics, measurement, not"),
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


@pytest.mark.parametrize("language", LANGUAGES)
def test_measurements_are_shown_with_their_claim_and_in_a_table(book_with_claims, language):
    write_measurements(
        "Python: 3",
        "compare_sums, float32: 1.5e-07 of 1e-06",
        "compare_sums, float32, gradients: 2.5e-07 of 1e-06",
        "compare_sums, float64: 0 of 1e-12",
    )
    claim_tables.write()
    folder = paths.GENERATED / language / "claims"
    gradients = {"en": "gradients", "zh": "梯度"}[language]
    row = next(
        row for row in (folder / "tables.md").read_text().splitlines() if "two and two" in row
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
    problem = (
        "test_the_page_as_a_whole is a claim about code without a mutation; scripts/experiment"
    )
    assert message.startswith(f"{where}: {problem}")
    change(path, '@claim("index")', '@claim("index", kind="measurement")')
    assert claim_error_messages() == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_claim_links_to_its_section_its_test_and_its_mutations(book_with_claims, language):
    path = book_with_claims / "tests/claims/test_other.py"
    claim_tables.write()
    table = (paths.GENERATED / language / "claims/tables.md").read_text(encoding="utf-8")
    (row,) = [line for line in table.splitlines() if "two and two" in line]
    assert "](other.md#there)" in row
    lines = [line_of(path, piece) for piece in ("def test_two", '"3 * x"', '"2 + x"')]
    address = "source:tests/claims/test_other.py"
    assert re.findall(r"\]\((source:[^)]*)\)", row) == [f"{address}#L{line}" for line in lines]


def test_the_counts_of_the_kinds_are_in_a_table_and_among_the_values(book_with_claims):
    claim_tables.write()
    table = (paths.GENERATED / "en/claims/counts.md").read_text().splitlines()
    assert table[2:] == [
        "| [Other](tables.md#other) | 1 | 2 | 1 | 0 |",
        "| All | 1 | 2 | 1 | 0 |",
    ]
    assert resolve_value("claims/numbers: mathematics") == "1"


@pytest.mark.parametrize(
    ("repository", "expected"),
    [
        ("https://github.com/a/b", "[x](https://github.com/a/b/blob/main/tests/t.py#L2){ .claim }"),
        ("", "x"),
    ],
)
def test_links_to_the_source_have_the_address_of_the_repository(repository, expected):
    markdown = "[here](other.md) [x](source:tests/t.py#L2){ .claim }."
    book = BookExtension()
    book.repository = repository
    assert link_sources([markdown], book) == [f"[here](other.md) {expected}."]


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


def test_a_saved_record_is_read_unchanged(record):
    assert claim_results.load_records() == {"test_other.py": record}
    claim_results.save_records({}, {})
    assert claim_results.load_records() == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_recorded_comparisons_and_mutations_are_shown_with_their_claim(record, language):
    path = paths.CLAIMS / "test_other.py"
    path.write_text(re.sub("^@mutation.*\n", "", path.read_text(), flags=re.M))
    claim_tables.write()
    table = (paths.GENERATED / language / "claims/tables.md").read_text(encoding="utf-8")
    (row,) = [line for line in table.splitlines() if "page as a whole" in line]
    kind = {"en": "mathematics", "zh": "数学"}[language]
    assert row.endswith(f"<br><small>{kind}</small> | `1 < 4`<br>`a['0'] = b|c` |")
    (row,) = [line for line in table.splitlines() if "two and two" in line]
    assert row.endswith("| `2 * x` → `3 * x` |")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("tests/claims/test_other.py", "half(LIMIT) <", "half(LIMIT) + 0 <"),
        ("tests/claims/test_other.py", '@claim("index"', '@claim("other"'),
        ("tests/claims/conftest.py", "x / 2", "x / 3"),
        ("snippets/tiny.py", "2 * x", "3 * x"),
        ("snippets/examples/chapter/say.py", "21", "22"),
    ],
)
def test_a_change_of_what_the_tests_use_makes_their_record_stale(record, file, old, new):
    assert record.is_fresh()
    change(paths.ROOT / file, old, new)
    assert not record.is_fresh()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("tests/claims/test_other.py", "half(LIMIT) <", "half(LIMIT)  <"),
        ("tests/claims/conftest.py", "def half(x):\n", 'def half(x):\n    """A half."""  # of x\n'),
        ("scripts/figures/chapter.py", '"position"', '"place"'),
    ],
)
def test_any_other_change_leaves_the_record_fresh(record, file, old, new):
    change(paths.ROOT / file, old, new)
    assert record.is_fresh()


@pytest.fixture
def recorder() -> Iterator[ModuleType]:
    """The module recorder, with nothing recorded."""
    recorder_module.RECORDED.clear()
    yield recorder_module
    recorder_module.RECORDED.clear()


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ("assert 0.123456 < 0.5", ["0.123 < 0.5"]),
        ("assert 1 <= 2 < 3.5", ["1 ≤ 2 < 3.5"]),
        ("assert 0.40001 > 0.4", ["0.40001 > 0.4"]),
        ("assert torch.tensor(0.25) >= 0", ["0.25 ≥ 0"]),
        ("assert all(x < 10 for x in (1, 9, 5))", ["9 < 10"]),
        ("for x in (1, 9, 5):\n    assert x < 10", ["9 < 10"]),
        ("assert 1 < 2 and 3 > 2", ["1 < 2", "3 > 2"]),
        ('shown = {"a label": "0.7"}\nassert float(shown["a label"]) > 0', ["a label = 0.7 > 0"]),
        ('shown = {"a label": "0.7"}\nassert shown["a label"] == "0.7"', ["a label = 0.7"]),
        ("assert len([1, 2]) == 2", ["len([1, 2]) = 2"]),
        ("assert 2 != 3", ["2 ≠ 3"]),
        ("assert 1.001 == pytest.approx(1, abs=0.01)", ["Δ = 0.001 ≤ 0.01"]),
        ("assert [1, 2.5] == pytest.approx([1, 2], abs=1)", ["Δ = 0.5 ≤ 1"]),
        ("assert {'a': 3} == pytest.approx({'a': 2}, rel=1)", ["Δ = 1 ≤ 2"]),
        ("torch.testing.assert_close(ONES, ONES + 2**-20)", ["Δ = 9.5e-07 ≤ 1.1e-05"]),
        ("torch.testing.assert_close(ONES, 2 * ONES, rtol=0, atol=4)", ["Δ = 1 ≤ 4"]),
        ("torch.testing.assert_close([ONES, ONES], [ONES, ONES], rtol=0, atol=0)", ["Δ = 0"]),
        ("np.testing.assert_allclose([1.0], [1.5], rtol=0, atol=1)", ["Δ = 0.5 ≤ 1"]),
        ("assert math.isclose(1, 1.5, rel_tol=0, abs_tol=1)", ["Δ = 0.5 ≤ 1"]),
        ("assert torch.allclose(ONES, ONES * 2, rtol=0, atol=2)", ["Δ = 1 ≤ 2"]),
        ("assert torch.equal(ONES, ONES)", ["Δ = 0"]),
        ("assert not torch.equal(ONES, 2 * ONES)", ["not torch.equal(ONES, 2 * ONES)"]),
        ("with pytest.raises(KeyError):\n    raise KeyError", ["raises KeyError"]),
        ("assert ONES.all()", ["ONES.all()"]),
        ("with pytest.raises(KeyError):\n    assert ONES.all()\n    raise KeyError",
         ["raises KeyError"]),
        ("assert 'a' in 'abc'", ["a in 'abc'"]),
        ("assert ONES.shape == (2,)", ["ONES.shape = (2,)"]),
        ("assert ONES is not None", ["ONES is not None"]),
        ("assert 1234.5678 < 2e6", ["1235 < 2e+06"]),
        ("with pytest.warns(UserWarning):\n    warnings.warn('!')", ["warns UserWarning"]),
        ("close = functools.partial(torch.testing.assert_close, rtol=0, atol=1)\n"
         "close(ONES, ONES)\nclose(ONES, 1.5 * ONES)", ["Δ = 0.5 ≤ 1"]),
        (f"assert 'x' * 99 == '{'x' * 99}'", [f"'x' * 99 = {'x' * 59}…"]),
        ("assert ONES.all()\nassert 2 == 2\nassert 1 < 9\nassert 8 < 9\nassert 7 < 9",
         ["1 < 9", "8 < 9", "7 < 9"]),
        ("assert 1 < 9\nassert 2 < 9\nassert 3 < 9\nassert 4 < 9", ["2 < 9", "3 < 9", "4 < 9"]),
    ],
)  # fmt: skip
def test_an_assertion_records_what_it_compares(recorder, tmp_path, code, texts):
    path = tmp_path / "asserting.py"
    start = "import functools, math, warnings, numpy as np, pytest, torch\nONES = torch.ones(2)\n"
    path.write_text(f"{start}{code}\n")
    loader = recorder.Loader("asserting", str(path))
    spec = importlib.util.spec_from_file_location("asserting", path, loader=loader)
    loader.exec_module(importlib.util.module_from_spec(spec))
    assert recorder.selected_texts(recorder.RECORDED) == texts


def test_a_failing_assertion_still_fails_and_records_nothing(recorder, tmp_path):
    path = tmp_path / "asserting.py"
    loader = recorder.Loader("asserting", str(path))
    for code in ("assert 0.5 < 0.1", "assert 1 == 2", "assert all(x > 2 for x in (3, 1))"):
        recorder.RECORDED.clear()
        path.write_text(f"{code}\n")
        spec = importlib.util.spec_from_file_location("asserting", path, loader=loader)
        with pytest.raises(AssertionError):
            loader.exec_module(importlib.util.module_from_spec(spec))
        assert "0.5" not in str(recorder.RECORDED) and "2" not in recorder.selected_texts(
            recorder.RECORDED
        )


def test_a_file_of_tests_is_recorded_in_a_fresh_process():
    name = "test_sample_for_the_runner"
    with process_pool() as pool:
        comparisons, coverage = pool.submit(record_file, f"test_mutations.py::{name}").result()
    assert comparisons[name] == ["sinusoidal_positional_encoding(2, 2)[0].tolist() = [0, 1]"]
    assert {"snippets/transformer.py", "tests/claims/test_mutations.py"} <= coverage.reads
    lines = (ROOT / "snippets/transformer.py").read_text().splitlines()
    for code, expected in (("angle.sin()", True), ("return F.layer_norm(", False)):
        (number,) = [number for number, line in enumerate(lines, 1) if code in line]
        tests = coverage.lines.get(("transformer.py", number), set())
        assert (f"test_mutations.py::{name}" in tests) == expected


# In the real book


def test_every_claim_of_the_book_has_a_place():
    assert claim_error_messages() == []
    declared = claims.all_claims()
    test_names = [
        node.name
        for path in sorted((ROOT / "tests/claims").glob("test_*.py"))
        if path.name not in claims.NO_CLAIMS
        for node in ast.parse(path.read_bytes()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert sorted(claim.name for claim in declared) == sorted(test_names)
    claims_with_anchor = [claim for claim in declared if "#" in claim.place]
    assert len(claims_with_anchor) > 0.95 * len(declared)


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


def test_every_claim_that_is_not_about_code_has_recorded_comparisons():
    records = claim_results.load_records()
    measured = [claim for claim in claims.all_claims() if claim.kind != "code"]
    missing = [each.test for each in measured if not records[each.file].comparisons.get(each.name)]
    assert missing == [], "run scripts/experiment claims"


def test_every_comparison_is_measured_within_its_bound():
    source = (ROOT / "scripts/evidence/comparisons.py").read_text(encoding="utf-8")
    assert sorted(claims.measurements()) == sorted(re.findall(r"^def (compare_\w+)", source, re.M))
    figures = [figure for each in claims.measurements().values() for figure in each]
    assert {figure.numbers for figure in figures} == {"float32", "float64"}
    assert all(float(figure.value) <= float(figure.bound) for figure in figures)


def test_a_changed_comparison_repeats_the_measurements():
    names = {path.name for path in dependencies(ROOT / "scripts/proofs/equalities.py")}
    assert {"comparisons.py", "references.py", "transformer.py", "rotary.py"} <= names


def test_a_measurement_above_its_bound_stops_the_build(monkeypatch):
    def compare_table(*_):
        return comparisons.check([torch.tensor(3e-6)], [torch.tensor(1e-6)], 1e-6)

    monkeypatch.setattr(comparisons, "compare_table", compare_table)
    message = "compare_table, float32: 2.0e-06 exceeds the claim's bound 1e-06"
    with pytest.raises(ValueError, match=re.escape(message)):
        runpy.run_path(str(ROOT / "scripts/proofs/equalities.py"))
