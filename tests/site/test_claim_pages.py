"""The pages of claims link to the lines of tests and faults; pages state the numbers of claims."""

import ast
import re

import pytest

from bookbuild.generated import claims
from bookbuild.pages.paths import LANGUAGES
from built_pages import BuiltPage, assert_no_errors

SOURCE = re.compile(r".*/blob/main/tests/claims/(\w+\.py)#L(\d+)$")


@pytest.fixture(params=LANGUAGES)
def pages(request: pytest.FixtureRequest, built_pages: list[BuiltPage]) -> dict[str, BuiltPage]:
    """The pages of one language by name."""
    pages = [page for page in built_pages if page.source.language == request.param]
    return {page.source.name: page for page in pages}


@pytest.fixture
def rows(pages) -> list:
    """The rows of claims: the first link of each is the claim."""
    tables = [page for name, page in pages.items() if name.startswith("claims-")]
    return [row for page in tables for row in page.article.find("tr") if row.find("a")]


def test_each_claim_and_each_fault_links_to_its_line(rows):
    expected = {  # the text of the claim or the fault that each line declares
        (path.name, node.lineno): (
            test.name.removeprefix("test_").replace("_", " ")
            if isinstance(node, ast.FunctionDef)
            else ast.literal_eval(node.keywords[-1].value)
        )
        for path in claims.claim_files()
        for test in ast.parse(path.read_bytes()).body
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test_")
        for node in (test, *test.decorator_list)
        if isinstance(node, ast.FunctionDef) or ast.unparse(node).startswith("mutation(")
    }
    errors, linked = [], set()
    for row in rows:
        claim, test, *faults = row.find("a")
        for text, link in [(claim.text(), test), *((fault.text(), fault) for fault in faults)]:
            address = link.attributes["href"]
            match = SOURCE.match(address)
            line = (match[1], int(match[2])) if match else None
            linked.add(line)
            if expected.get(line) != text:
                errors.append(f"{text}: its link leads to {address}, {expected.get(line)}")
    assert_no_errors(errors)
    assert linked == {*expected}


def test_each_claim_that_is_not_about_code_shows_what_its_test_compares(rows):
    compared = {row.find("a")[0].text(): row.find("code") for row in rows}
    others = [claim.text for claim in claims.all_claims() if claim.kind != "code"]
    assert others
    assert_no_errors(f"{text}: no comparison" for text in others if not compared[text])


def test_the_home_page_states_the_number_of_claims_of_each_kind(pages):
    kinds = [claim.kind for claim in claims.all_claims()]
    numbers = [str(kinds.count(kind)) for kind in claims.KINDS]
    items = pages["index.md"].article.find("li")
    (promise,) = [
        item
        for item in items
        if any(a.attributes["href"].endswith("proofs/#claims") for a in item.find("a"))
    ]
    assert re.findall(r"\d+", promise.text()) == numbers
