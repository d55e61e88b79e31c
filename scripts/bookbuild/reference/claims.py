"""The claims of the book: each is a test in tests/claims, and its name is the claim.

Two decorators of tests/claims/marks.py, `@claim("page#anchor")` and `@mutation(file, old, new,
fault=…)`, declare where the book makes the claim and which faults in the code its test must catch.
They are read from the source, so that a build imports no test.
"""

import ast
import functools
import html
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bookbuild.check.translation import find_parts
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.page import SourcePage, list_pages, target_errors
from bookbuild.pages.paths import LANGUAGES
from bookbuild.reference import bibliography

MEASURED = re.compile(r"^(compare_\w+), (\w+)(?:, ([\w ]+))?: (\S+) of (\S+)$", re.M)
NO_CLAIMS = "test_mutations.py"  # it tests the tests
KINDS = ("code", "mathematics", "measurement")
WORDS: dict[str, dict[str, Any]] = {
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
            "widgets": "interactive figures",
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
            "widgets": "幅可交互的图",
            "labs": "个动手实验",
            "works": "篇引用的论文和文章",
        },
    },
}


class Mutation(NamedTuple):
    """A fault to insert into a copy of snippets/; the test of the claim must then fail."""

    file: str  # transformer.py
    old: str  # occurs exactly once in the file
    new: str
    fault: str  # the mask is inverted


class Claim(NamedTuple):
    """A tested statement, its section in the book, and the faults that make its test fail."""

    test: str  # test_masks.py::test_the_pad_id_is_0_by_default
    line: int
    text: str  # the pad id is 0 by default
    place: str  # masks.md#padding-mask
    kind: str  # one of KINDS
    mutations: list[Mutation]
    comparison: str  # compare_table, a function of comparisons.py that it calls; may be empty


class Figure(NamedTuple):
    """A measured figure of a claim, and the bound that its test allows."""

    numbers: str  # float32
    what: str  # gradients, or nothing
    value: str
    bound: str


def test_files() -> dict[str, list[Path]]:
    """The test files of each page that has any: test_training.py, test_training_chapter.py."""
    files_of_page = {}
    for name in sorted(page.name.removesuffix(".md") for page in list_pages("en")):
        stem = re.escape(f"test_{name.replace('-', '_')}")
        files = [path for path in claim_files() if re.fullmatch(rf"{stem}(_.*)?\.py", path.name)]
        if files:
            files_of_page[name] = files
    return files_of_page


def claim_files() -> list[Path]:
    return sorted(path for path in paths.CLAIMS.glob("test_*.py") if path.name != NO_CLAIMS)


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
    calls = [node for node in test.decorator_list if isinstance(node, ast.Call)]
    places = [
        literal_arguments(path, call, ["place"], {"kind": "code"})
        for call in calls
        if decorator_name(call) == "claim"
    ]
    if len(places) != 1:
        hint = f'{len(places)} @claim decorators; give it one: @claim("page#anchor")'
        raise SourceError(path, test.lineno, f"{test.name} has {hint}")
    page, *anchor = places[0]["place"].split("#")
    kind = places[0]["kind"]
    if kind not in KINDS:
        raise SourceError(path, test.lineno, f"kind is {', '.join(KINDS)}, not {kind!r}")
    mutations = [
        Mutation(**literal_arguments(path, call, [*Mutation._fields]))
        for call in calls
        if decorator_name(call) == "mutation"
    ]
    text = test.name.removeprefix("test_").replace("_", " ")
    place = "#".join([f"{page}.md", *anchor])
    names = [node.id for node in ast.walk(test) if isinstance(node, ast.Name)]
    comparison = next((name for name in names if name.startswith("compare_")), "")
    return Claim(f"{path.name}::{test.name}", test.lineno, text, place, kind, mutations, comparison)


def decorator_name(call: ast.Call) -> str:
    return ast.unparse(call.func)


def literal_arguments(
    path: Path, call: ast.Call, names: list[str], defaults: dict[str, str] | None = None
) -> dict[str, Any]:
    """The arguments of a decorator by name. Raises SourceError."""
    nodes = dict(zip(names, call.args, strict=False))
    nodes |= {keyword.arg or "": keyword.value for keyword in call.keywords}
    given = {name: getattr(node, "value", None) for name, node in nodes.items()}
    values = (defaults or {}) | given
    expected = {*names, *(defaults or {})}
    if values.keys() != expected or not all(isinstance(each, str) for each in values.values()):
        what = f"@{decorator_name(call)} takes {len(names)} literal strings: {', '.join(names)}"
        raise SourceError(path, call.lineno, what)
    return values


def all_claims() -> list[Claim]:
    """The claims of the book, page by page."""
    return [claim for files in test_files().values() for path in files for claim in claims_in(path)]


def claim_errors() -> Iterator[SourceError]:
    """Missing anchors and mutations, test files of no page, tables that no page shows."""
    files_of_page = test_files()
    known = {path for files in files_of_page.values() for path in files}
    for path in sorted(known):
        yield from target_errors(path, [(claim.line, claim.place) for claim in claims_in(path)])
        for claim in claims_in(path):
            if claim.kind == "code" and not claim.mutations:
                what = "is about code and has no @mutation; add one, or name another kind"
                yield SourceError(path, claim.line, f"{claim.test.partition('::')[2]} {what}")
    for path in claim_files():
        if path not in known:
            yield SourceError(path, 1, "its claims belong to no page; name it test_PAGE.py")
    compared = {claim.comparison for claim in all_claims()}
    for comparison in measurements():
        if comparison not in compared:
            where = paths.SCRIPTS / "proofs" / "equalities.py"
            yield SourceError(where, 1, f"no claim calls {comparison}; call it in a test")
    for language in LANGUAGES:
        proofs = SourcePage(language, "proofs.md")
        if proofs.path.exists():
            shown = {include.file for include in proofs.includes()}
            for name in files_of_page:
                if f"claims/{name}.md" not in shown:
                    yield proofs.error(0, f'shows no claims of {name}: --8<-- "claims/{name}.md"')


def measurements() -> dict[str, list[Figure]]:
    """The figures of each comparison, as the proofs measured them."""
    found: dict[str, list[Figure]] = {}
    for path in sorted((paths.GENERATED / "outputs" / "proofs").glob("*.txt")):
        for comparison, *figure in MEASURED.findall(path.read_text(encoding="utf-8")):
            found.setdefault(comparison, []).append(Figure(*figure))
    return found


def markdown_table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def measured_table(language: str) -> str:
    """A Markdown table of all measurements: a row per claim, float32 above float64."""
    measured, rows = measurements(), []
    for claim in all_claims():
        figures = measured.get(claim.comparison, [])
        if figures:
            kinds = list(dict.fromkeys(figure.numbers for figure in figures))
            columns = [
                kinds,
                [figure.value for figure in figures if figure.what != "gradients"],
                [figure.value for figure in figures if figure.what == "gradients"],
                [
                    ", ".join(dict.fromkeys(f.bound for f in figures if f.numbers == kind))
                    for kind in kinds
                ],
            ]
            page = SourcePage(language, claim.place.partition("#")[0]).title
            cells = ["<br>".join(map(nowrap, column)) for column in columns]
            rows.append((f"{claim_link(claim)}<br><small>{page}</small>", *cells))
    return markdown_table(WORDS[language]["measured"], rows)


def english_span(text: str) -> str:
    return f'<span lang="en">{html.escape(text)}</span>' if text else ""


def claim_link(claim: Claim) -> str:
    """A link from the claim to its section, in the color of text because there are so many."""
    return f"[{english_span(claim.text)}]({claim.place}){{ .claim }}"


def nowrap(text: str) -> str:
    return f'<span class="nowrap">{text}</span>' if text else ""


def table(files: list[Path], language: str) -> str:
    """The claims of test files as a Markdown table, below their number."""
    claims, words = [claim for path in files for claim in claims_in(path)], WORDS[language]
    if not claims:
        return f"{words['none']}\n"
    measured = measurements()
    faults = [[mutation.fault for mutation in claim.mutations] for claim in claims]
    rows = [
        (
            claim_link(claim) + measured_note(measured.get(claim.comparison, []), language),
            english_span("; ".join(each)),
        )
        for claim, each in zip(claims, faults, strict=True)
    ]
    counts = words["counts"].format(claims=len(claims), changes=sum(map(len, faults)))
    return f"{counts}\n\n{markdown_table(words['heads'], rows)}"


def measured_note(figures: list[Figure], language: str) -> str:
    """What was measured of a claim, for a small line below it."""
    words, parts = WORDS[language], []
    colon, comma = (": ", "; ") if language == "en" else ("：", "；")
    for figure in figures:
        what = f", {words['gradients']}" if figure.what == "gradients" else ""
        parts.append(nowrap(f"{figure.numbers}{what} {figure.value}"))
    return f"<br><small>{words['here']}{colon}{comma.join(parts)}</small>" if parts else ""


def numbers() -> dict[str, int]:
    """The numbers of claims, pages, figures and so on."""
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


def write() -> None:
    """Write the files that the Proofs page includes."""
    files, counted = test_files(), numbers()
    for language in LANGUAGES:
        folder = paths.GENERATED / language / "claims"
        for page in list_pages(language):
            name = page.name.removesuffix(".md")
            write_file(folder / f"{name}.md", table(files.get(name, []), language))
        write_file(folder / "measured.md", measured_table(language))
        words = WORDS[language]["numbers"]
        lines = [f"- **{count}** {words[name]}\n" for name, count in counted.items()]
        write_file(folder / "numbers.md", "".join(lines))
