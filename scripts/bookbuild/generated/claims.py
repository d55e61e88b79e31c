"""The claims of the book: each is a test in tests/claims, and its name is the claim.

Two decorators of tests/claims/marks.py, `@claim("page#anchor")` and `@mutation(file, old, new,
fault=…)`, declare where the book makes the claim and which faults in the code its test must catch.
They are read from the source, so that a build imports no test. A claim about code without a written
mutation has the one that `scripts/experiment claims` has found.
"""

import ast
import functools
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from bookbuild.generated import claim_results
from bookbuild.pages import contents, paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.page import SourcePage, list_pages, target_errors
from bookbuild.pages.paths import LANGUAGES

MEASURED = re.compile(r"^(compare_\w+), (\w+)(?:, ([\w ]+))?: (\S+) of (\S+)$", re.M)
# One tests the tests, the other the training code beyond what a page claims.
NO_CLAIMS = ("test_mutations.py", "test_train.py")
NO_MUTATION = (
    "is a claim about code without a mutation; scripts/experiment claims looks for one; "
    'a claim about anything else is of kind="mathematics" or kind="measurement"'
)
KINDS = ("code", "mathematics", "measurement")


class Mutation(NamedTuple):
    """A fault to insert into a copy of snippets/; the test of the claim must then fail."""

    file: str  # transformer.py
    old: str  # occurs exactly once in the file
    new: str
    fault: str  # the mask is inverted; empty if Cosmic Ray has generated it
    line: int  # of the test file, where it is declared

    @property
    def change(self) -> tuple[str, str]:
        """The first changed line, before and after."""
        lines = self.old.splitlines(), self.new.splitlines()
        pairs = [pair for pair in zip_longest(*lines, fillvalue="") if pair[0] != pair[1]]
        return pairs[0][0].strip(), pairs[0][1].strip()


class Claim(NamedTuple):
    """A tested statement, its section in the book, and the faults that make its test fail."""

    file: str  # test_masks.py
    name: str  # test_the_pad_id_is_0_by_default
    line: int
    text: str  # the pad id is 0 by default
    place: str  # masks.md#padding-mask
    kind: str  # one of KINDS
    written: list[Mutation]
    comparison: str  # compare_table, a function of comparisons.py that it calls; may be empty

    @property
    def test(self) -> str:
        """The test: test_masks.py::test_the_pad_id_is_0_by_default."""
        return f"{self.file}::{self.name}"

    @property
    def mutations(self) -> list[Mutation]:
        """The written mutations, or the recorded one."""
        record = claim_results.load_records().get(self.file)
        if self.written or not record or self.name not in record.mutations:
            return self.written
        file, old, new = record.mutations[self.name]
        return [Mutation(file, old, new, "", self.line)]


class Figure(NamedTuple):
    """A measured figure of a claim, and the bound that its test allows."""

    numbers: str  # float32
    what: str  # gradients, or nothing
    value: str
    bound: str


def test_files() -> dict[str, list[Path]]:
    """The test files of each page that has any: test_training.py, test_training_chapter.py.

    A file belongs to the page with the longest name: test_attention_in_practice.py isn't of
    attention.md.
    """
    files_of_page: dict[str, list[Path]] = {}
    names = [page.name.removesuffix(".md") for page in list_pages("en")]
    for path in claim_files():
        stems = {f"test_{name.replace('-', '_')}": name for name in names}
        matches = [stem for stem in stems if path.stem == stem or path.stem.startswith(f"{stem}_")]
        if matches:
            files_of_page.setdefault(stems[max(matches, key=len)], []).append(path)
    return {name: files_of_page[name] for name in sorted(files_of_page)}


def claim_files() -> list[Path]:
    return sorted(path for path in paths.CLAIMS.glob("test_*.py") if path.name not in NO_CLAIMS)


def claims_in(path: Path) -> list[Claim]:
    """The claims of a test file, in its order. Raises SourceError."""
    return read_claims(path, path.read_bytes())


@functools.cache
def read_claims(path: Path, source: bytes) -> list[Claim]:
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise SourceError(path, error.lineno or 1, f"{error.msg}; correct the syntax") from None
    return [
        read_claim(path, node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def read_claim(path: Path, test: ast.FunctionDef) -> Claim:
    """The claim that a test function's decorators declare. Raises SourceError."""
    declared = [*decorator_arguments(path, test, "claim", "place", kind="code")]
    if len(declared) != 1:
        hint = f'{len(declared)} @claim decorators; give it one: @claim("page#anchor")'
        raise SourceError(path, test.lineno, f"{test.name} has {hint}")
    kind = declared[0]["kind"]
    if kind not in KINDS:
        raise SourceError(path, test.lineno, f"kind is {', '.join(KINDS)}, not {kind!r}")
    arguments = decorator_arguments(path, test, "mutation", "file", "old", "new", "fault")
    mutations = [Mutation(**each) for each in arguments]
    text = test.name.removeprefix("test_").replace("_", " ")
    page, hash_sign, anchor = declared[0]["place"].partition("#")
    place = f"{page}.md{hash_sign}{anchor}"
    names = [node.id for node in ast.walk(test) if isinstance(node, ast.Name)]
    comparison = next((name for name in names if name.startswith("compare_")), "")
    return Claim(path.name, test.name, test.lineno, text, place, kind, mutations, comparison)


def decorator_arguments(
    path: Path, test: ast.FunctionDef, decorator: str, *required: str, **defaults: str
) -> Iterator[dict[str, Any]]:
    """The arguments, and the line, of each decorator of this name. Raises SourceError."""
    for call in test.decorator_list:
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != decorator:
            continue
        nodes = dict(zip(required, call.args, strict=False))
        nodes |= {keyword.arg or "": keyword.value for keyword in call.keywords}
        values = defaults | {name: getattr(node, "value", None) for name, node in nodes.items()}
        are_literal = all(isinstance(each, str) for each in values.values())
        if values.keys() != {*required, *defaults} or not are_literal:
            what = f"@{decorator} takes {len(required)} literal strings: {', '.join(required)}"
            raise SourceError(path, call.lineno, what)
        yield values | {"line": call.lineno}


def all_claims() -> list[Claim]:
    """The claims of the book, page by page."""
    return [claim for files in test_files().values() for path in files for claim in claims_in(path)]


def claim_errors() -> Iterator[SourceError]:
    """Missing anchors and mutations, test files of no page, claims that no page shows."""
    files_of_page = test_files()
    known = {path for files in files_of_page.values() for path in files}
    for path in sorted(known):
        claims = claims_in(path)
        yield from target_errors(path, [(claim.line, claim.place) for claim in claims])
        for claim in claims:
            if claim.kind == "code" and not claim.mutations:
                yield SourceError(path, claim.line, f"{claim.name} {NO_MUTATION}")
    for path in claim_files():
        if path not in known:
            yield SourceError(path, 1, "its claims belong to no page; name it test_PAGE.py")
    compared = {claim.comparison for claim in all_claims()}
    for comparison in measurements():
        if comparison not in compared:
            where = paths.SCRIPTS / "proofs" / "equalities.py"
            yield SourceError(where, 1, f"no claim calls {comparison}; call it in a test")
    for language in LANGUAGES:
        shown = claim_sections(language)
        for name in files_of_page if claims_pages(language) else ():
            if name not in shown:
                lists = ", ".join(f"{each.display_path}" for each in claims_pages(language))
                hint = f"add its part of the nav to the list claims_of of a page: {lists}"
                page = SourcePage(language, f"{name}.md")
                yield page.error(0, f"no page shows its claims; {hint}")


def claims_pages(language: str) -> dict[SourcePage, list[str]]:
    """The pages that list claims, and the names of the pages whose claims each lists.

    The front matter of such a page names parts of the table of contents: `claims_of`.
    """
    pages_of_part = {part.title: part.pages for part in contents.load_parts()}
    with_claims = test_files()
    lists = {}
    for page in list_pages(language):
        if titles := page.meta.get("claims_of"):
            pages = (name for title in titles for name in pages_of_part.get(title, []))
            names = (name.removesuffix(".md") for name in pages)
            lists[page] = [name for name in names if name in with_claims]
    return lists


def claim_sections(language: str) -> dict[str, tuple[str, str]]:
    """The title and address of the section that shows the claims of each test file's page."""
    return {
        name: (SourcePage(language, f"{name}.md").title, f"{page.name}#{name}")
        for page, names in claims_pages(language).items()
        for name in names
    }


def measurements() -> dict[str, list[Figure]]:
    """The figures of each comparison, as the proofs measured them."""
    found: dict[str, list[Figure]] = {}
    for path in sorted((paths.GENERATED / "outputs" / "proofs").glob("*.txt")):
        for comparison, *figure in MEASURED.findall(path.read_text(encoding="utf-8")):
            found.setdefault(comparison, []).append(Figure(*figure))
    return found
