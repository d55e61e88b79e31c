"""The claims of the book: each is a test in tests/claims, and its name is the claim.

Two decorators of tests/claims/marks.py, `@claim("page#anchor")` and `@mutation(file, old, new,
fault=…)`, declare where the book makes the claim and which faults in the code its test must catch.
They are read from the source, so that a build imports no test.
"""

import ast
import functools
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bookbuild.check.translation import find_parts
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.page import SourcePage, list_pages, target_errors
from bookbuild.pages.paths import LANGUAGES
from bookbuild.reference import bibliography

MEASURED = re.compile(r"^(test_\w+\.py::test_\w+), (\w+)(?:, ([\w ]+))?: (\S+) of (\S+)$", re.M)
NO_CLAIMS = "test_mutations.py"  # it tests the tests
WORDS = {
    "en": {
        "counts": "{claims} claims, {changes} changes of the code that they catch.",
        "none": "No claim yet.",
        "heads": ("Claim", "Fails if"),
        "measured": ("Claim", "Numbers", "Results", "Gradients", "Allowed"),
        "here": "Measured here",
        "gradients": "gradients",
        "numbers": {
            "claims": "claims, each a test",
            "changes": "deliberate faults in the code, each caught by its claim",
            "measured": "figures of claims, measured by this build",
            "pages": "pages, in two languages",
            "examples": "examples, run by this build",
            "exercises": "exercises, with their answers",
            "figures": "figures, drawn by this build",
            "widgets": "figures to touch",
            "labs": "labs",
            "works": "works cited",
        },
    },
    "zh": {
        "counts": "{claims} 条论断，能抓住 {changes} 处改错的代码。",
        "none": "还没有论断。",
        "heads": ("论断", "代码这样一改就不成立"),
        "measured": ("论断", "数的类型", "结果", "梯度", "允许"),
        "here": "这次测得",
        "gradients": "梯度",
        "numbers": {
            "claims": "条论断，每条都是一个测试",
            "changes": "处故意改错的代码，每处都被它的论断抓住",
            "measured": "条论断的数字，由这次构建测得",
            "pages": "页，两种语言都有",
            "examples": "个例子，由这次构建运行",
            "exercises": "道练习，附答案",
            "figures": "幅插图，由这次构建画出",
            "widgets": "张可以动手的图",
            "labs": "个动手实验",
            "works": "篇引用的论文和文章",
        },
    },
}


class Mutation(NamedTuple):
    """A fault to make in a copy of snippets/: the test of its claim must then fail."""

    file: str  # transformer.py
    old: str  # occurs exactly once in the file
    new: str
    fault: str  # the mask is inverted


class Claim(NamedTuple):
    """What a test proves, where the book says it, and the faults that make the test fail."""

    test: str  # test_masks.py::test_the_pad_id_is_0_by_default
    line: int
    text: str  # the pad id is 0 by default
    place: str  # masks.md#padding-mask
    mutations: list[Mutation]


class Figure(NamedTuple):
    """A line of a proof: the figure of a claim, and what its test allows."""

    numbers: str  # float32
    what: str  # gradients, or nothing
    value: str
    bound: str


def folder() -> Path:
    return paths.ROOT / "tests" / "claims"


def test_files() -> dict[str, list[Path]]:
    """The test files of each page that has any: test_training.py, test_training_chapter.py."""
    files_of_page = {}
    for name in sorted(page.name.removesuffix(".md") for page in list_pages("en")):
        stem = f"test_{name.replace('-', '_')}"
        patterns = (f"{stem}.py", f"{stem}_*.py")
        files = [path for pattern in patterns for path in sorted(folder().glob(pattern))]
        if files:
            files_of_page[name] = files
    return files_of_page


def claims_in(path: Path) -> list[Claim]:
    """The claims of a test file, in its order. Raises SourceError."""
    return read_claims(path, path.stat().st_mtime_ns)


@functools.cache
def read_claims(path: Path, mtime: int) -> list[Claim]:
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError as error:
        raise SourceError(path, error.lineno or 1, f"{error.msg}; correct the syntax") from None
    return [
        read_claim(path, node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def read_claim(path: Path, test: ast.FunctionDef) -> Claim:
    """The claim that a test function's decorators declare. Raises SourceError."""
    places, mutations = [], []
    for node in test.decorator_list:
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if name == "claim":
            (place,) = arguments(path, node, ("place",))
            page, _, anchor = place.partition("#")
            places.append(f"{page}.md#{anchor}" if anchor else f"{page}.md")
        elif name == "mutation":
            mutations.append(Mutation(*arguments(path, node, Mutation._fields)))
    if len(places) != 1:
        what = (
            f'{test.name} has {len(places)} @claim decorators; give it one: @claim("page#anchor")'
        )
        raise SourceError(path, test.lineno, what)
    text = test.name.removeprefix("test_").replace("_", " ")
    return Claim(f"{path.name}::{test.name}", test.lineno, text, places[0], mutations)


def arguments(path: Path, call: ast.Call, names: tuple[str, ...]) -> list[str]:
    """The values of a decorator's arguments, in the order of their names. Raises SourceError."""
    nodes: dict[str | None, ast.expr] = {each.arg: each.value for each in call.keywords}
    nodes |= zip(names, call.args, strict=False)
    values = [
        node.value
        for name in names
        if isinstance(node := nodes.get(name), ast.Constant) and isinstance(node.value, str)
    ]
    if len(values) != len(names):
        what = f"@{ast.unparse(call.func)} takes {len(names)} literal strings: {', '.join(names)}"
        raise SourceError(path, call.lineno, what)
    return values


def all_claims() -> list[Claim]:
    """The claims of the book, page by page."""
    return [claim for files in test_files().values() for path in files for claim in claims_in(path)]


def claim_errors() -> Iterator[SourceError]:
    """Missing anchors, test files of no page, tables of claims that no page shows."""
    known = {path for files in test_files().values() for path in files}
    for path in sorted(known):
        yield from target_errors(path, [(claim.line, claim.place) for claim in claims_in(path)])
    for path in sorted(folder().glob("test_*.py")):
        if path not in known and path.name != NO_CLAIMS:
            yield SourceError(path, 1, "its claims belong to no page; name it test_PAGE.py")
    names = {claim.test for claim in all_claims()}
    for test in measurements():
        if test not in names:
            where = paths.SCRIPTS / "proofs" / "equalities.py"
            yield SourceError(where, 1, f"there is no claim {test}")
    for language in LANGUAGES:
        proofs = SourcePage(language, "proofs.md")
        if proofs.path.exists():
            shown = {include.file for include in proofs.includes()}
            for name in test_files():
                if f"claims/{name}.md" not in shown:
                    yield proofs.error(0, f'shows no claims of {name}: --8<-- "claims/{name}.md"')


def measurements() -> dict[str, list[Figure]]:
    """The figures of each claim that a proof has measured."""
    found: dict[str, list[Figure]] = {}
    for path in sorted((paths.GENERATED / "outputs" / "proofs").glob("*.txt")):
        for match in MEASURED.finditer(path.read_text(encoding="utf-8")):
            test, numbers, what, value, bound = match.groups()
            figure = Figure(numbers, what or "", value, bound)
            found.setdefault(test, []).append(figure)
    return found


def measured_table(language: str) -> str:
    """All that was measured, one row a claim, float32 above float64, in Markdown."""
    figures, heads = measurements(), WORDS[language]["measured"]
    lines: list[tuple[str, ...]] = [heads, ("---",) * len(heads)]
    for claim in all_claims():
        mine = figures.get(claim.test, [])
        if mine:
            kinds = list(dict.fromkeys(figure.numbers for figure in mine))
            ordered = sorted(mine, key=lambda figure: kinds.index(figure.numbers))
            columns = [
                kinds,
                [figure.value for figure in ordered if figure.what != "gradients"],
                [figure.value for figure in ordered if figure.what == "gradients"],
                [
                    ", ".join(dict.fromkeys(f.bound for f in mine if f.numbers == kind))
                    for kind in kinds
                ],
            ]
            page = SourcePage(language, claim.place.partition("#")[0]).title
            cells = ["<br>".join(map(unbroken, column)) for column in columns]
            lines.append((f"{linked(claim)}<br><small>{page}</small>", *cells))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def linked(claim: Claim) -> str:
    """A claim that leads to its place; without the colour of links, as there are so many."""
    return f'[<span lang="en">{html.escape(claim.text)}</span>]({claim.place}){{ .said }}'


def unbroken(text: str) -> str:
    return f'<span class="unbroken">{text}</span>' if text else ""


def table(files: list[Path], language: str) -> str:
    """The claims of test files as a table in Markdown, under their number."""
    rows, words = [claim for path in files for claim in claims_in(path)], WORDS[language]
    if not rows:
        return f"{words['none']}\n"
    figures = measurements()
    lines: list[tuple[str, ...]] = [words["heads"], ("---", "---")]
    for claim in rows:
        caught = "; ".join(mutation.fault for mutation in claim.mutations)
        fails = f'<span lang="en">{html.escape(caught)}</span>' if caught else ""
        lines.append((linked(claim) + beside(claim, figures, language), fails))
    counts = words["counts"].format(
        claims=len(rows), changes=sum(len(claim.mutations) for claim in rows)
    )
    return f"{counts}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def beside(claim: Claim, figures: dict[str, list[Figure]], language: str) -> str:
    """What was measured of a claim, to stand below it."""
    words = WORDS[language]
    parts = []
    for figure in figures.get(claim.test, []):
        what = f", {words['gradients']}" if figure.what == "gradients" else ""
        parts.append(unbroken(f"{figure.numbers}{what} {figure.value}"))
    colon, comma = (": ", "; ") if language == "en" else ("：", "；")
    return f"<br><small>{words['here']}{colon}{comma.join(parts)}</small>" if parts else ""


def numbers() -> dict[str, int]:
    """How much of everything the book has."""
    pages = list_pages("en")
    texts = [page.text for page in pages]
    claims = all_claims()
    return {
        "claims": len(claims),
        "changes": sum(len(claim.mutations) for claim in claims),
        "measured": len(measurements()),
        "pages": len(pages),
        "examples": len([*(paths.SNIPPETS / "examples").rglob("*.py")]),
        "exercises": sum(len(find_parts("exercise", text)) // 2 for text in texts),
        "figures": len({part.value for text in texts for part in find_parts("figure", text)}),
        "widgets": sum(text.count('<div class="widget"') for text in texts),
        "labs": sum(page.is_notebook for page in pages),
        "works": len(bibliography.select_references(software=False)),
    }


def numbers_list(counted: dict[str, int], language: str) -> str:
    words = WORDS[language]["numbers"]
    return "".join(f"- **{count}** {words[name]}\n" for name, count in counted.items())


def write() -> None:
    """All includes of the page on proofs; those of a page without claims say so."""
    files, counted = test_files(), numbers()
    for language in LANGUAGES:
        made = paths.GENERATED / language / "claims"
        for page in list_pages(language):
            name = page.name.removesuffix(".md")
            write_file(made / f"{name}.md", table(files.get(name, []), language))
        write_file(made / "measured.md", measured_table(language))
        write_file(made / "numbers.md", numbers_list(counted, language))
