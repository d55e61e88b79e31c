"""The claims of the book: each is a test of tests/snippets, and its name is the claim.

Where a page makes a claim is read from the tests. A comment of its own line, "# WORDS: #anchor" or
"# WORDS: page.md#anchor", says it of all tests below, up to the next; a test that runs an example
stands where the page shows that example; without either, the chapter as a whole makes the claim.
"""

import ast
import functools
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast

from bookbuild.check import translation
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import line_number, parse_yaml, write_file
from bookbuild.pages.page import INCLUDE, VALUE, SourcePage, blank_fences, headings, list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.reference import bibliography

PLACE = re.compile(r"^# .*: ([\w-]+\.md)?(#[\w-]+)?$", re.M)
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


class Claim(NamedTuple):
    """What a test proves, where a page says it, and the changes of the code that make it fail."""

    test: str  # test_masks.py::test_the_pad_id_is_0_unless_told
    line: int
    says: str  # the pad id is 0 unless told
    place: str  # masks.md#padding-mask
    changes: list[str]


class Figure(NamedTuple):
    """A line of a proof: the figure of a claim, and what its test allows."""

    numbers: str  # float32
    what: str  # gradients, or nothing
    value: str
    bound: str


def folder() -> Path:
    return paths.ROOT / "tests" / "snippets"


def chapters() -> dict[str, list[Path]]:
    """The test files of each page that has any: test_training.py, test_training_chapter.py."""
    found = {}
    for name in sorted(page.name.removesuffix(".md") for page in list_pages("en")):
        stem = f"test_{name.replace('-', '_')}"
        both = (stem, f"{stem}_*")
        files = [path for each in both for path in sorted(folder().glob(f"{each}.py"))]
        if files:
            found[name] = files
    return found


@functools.cache
def mutations(path: Path, mtime: int) -> list[dict[str, str]]:
    return cast(list, parse_yaml(path, path.read_text(encoding="utf-8")) or [])


def rows() -> list[dict[str, str]]:
    """Every mutation of the book."""
    files = sorted(folder().glob("mutations*.yml"))
    return [row for each in files for row in mutations(each, each.stat().st_mtime_ns)]


def claims(path: Path, chapter: str) -> list[Claim]:
    """The claims of a test file, in its order."""
    changes: dict[str, list[str]] = {}
    for row in rows():
        changes.setdefault(row["by"].partition("[")[0], []).append(row["what"])
    page = SourcePage("en", f"{chapter}.md")
    shown = examples(page, page.path.stat().st_mtime_ns)
    found = []
    for name, line, place, example in tests(path, chapter, path.stat().st_mtime_ns):
        test = f"{path.name}::{name}"
        says = name.removeprefix("test_").replace("_", " ")
        place = shown.get(example, place)
        found.append(Claim(test, line, says, place, changes.get(test, [])))
    return found


def all_claims() -> list[Claim]:
    """The claims of the book, page by page."""
    return [
        claim
        for name, paths in chapters().items()
        for path in paths
        for claim in claims(path, name)
    ]


@functools.cache
def tests(path: Path, chapter: str, mtime: int) -> list[tuple[str, int, str, str]]:
    """Each test of a file: its name, its line, its section's place, the example that it runs."""
    text = path.read_text(encoding="utf-8")
    places = [(0, f"{chapter}.md")]
    for match in PLACE.finditer(text):
        if match[1] or match[2]:
            place = (match[1] or f"{chapter}.md") + (match[2] or "")
            places.append((line_number(text, match.start()), place))
    found = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            place = [place for line, place in places if line < node.lineno][-1]
            found.append((node.name, node.lineno, place, example_of(node, chapter)))
    return found


def example_of(test: ast.FunctionDef, chapter: str) -> str:
    """The first example or exercise that a test runs: examples/masks/both; '' if none."""
    for node in ast.walk(test):
        if isinstance(node, ast.Call):
            given = [each.value for each in node.args if isinstance(each, ast.Constant)]
            if len(given) > 1 and given[0] in ("examples", "exercises"):
                where = given[2] if len(given) > 2 else chapter
                return f"{given[0]}/{where}/{given[1]}"
    return ""


@functools.cache
def examples(page: SourcePage, mtime: int) -> dict[str, str]:
    """Where a page shows or quotes each example: the heading above it."""
    text, heads = page.text, headings(page)
    uses = [(match.start(), match[1].partition(".")[0]) for match in INCLUDE.finditer(text)]
    uses += [
        (match.start(), f"examples/{match[1].partition(': ')[0]}")
        for match in VALUE.finditer(blank_fences(text))
    ]
    found: dict[str, str] = {}
    for position, name in sorted(uses):
        line = line_number(text, position)
        above = [each.anchor for each in heads if each.anchor and each.line < line]
        found.setdefault(name, f"{page.name}#{above[-1]}" if above else page.name)
    return found


def claim_errors() -> Iterator[SourceError]:
    """Places that are not there, tests and tables that are in no one's sight."""
    anchors: dict[tuple[str, str], set[str]] = {}
    for language in LANGUAGES:
        for page in list_pages(language):
            anchors[language, page.name] = {each.anchor or "" for each in headings(page)}
    told = all_claims()
    for claim in told:
        path = folder() / claim.test.partition("::")[0]
        name, _, anchor = claim.place.partition("#")
        for language in LANGUAGES:
            there = anchors.get((language, name))
            if there is None and SourcePage(language, name).translation.path.exists():
                continue  # told by translation_errors
            if there is None or (anchor and anchor not in there):
                what = (
                    f"a comment above says {claim.place}, which docs/{language} has not; "
                    "correct one of the two"
                )
                yield SourceError(path, claim.line, what)
                break
    known = {path for paths in chapters().values() for path in paths}
    for path in sorted(folder().glob("test_*.py")):
        if path not in known and path.name != NO_CLAIMS:
            yield SourceError(path, 1, "its claims belong to no page; name it test_PAGE.py")
    names = {claim.test for claim in told}
    for test in measurements():
        if test not in names:
            where = paths.SCRIPTS / "proofs" / "equalities.py"
            yield SourceError(where, 1, f"there is no claim {test}")
    for language in LANGUAGES:
        proofs = SourcePage(language, "proofs.md")
        if proofs.path.exists():
            shown = {include.file for include in proofs.includes()}
            for name in chapters():
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
    return f'[<span lang="en">{html.escape(claim.says)}</span>]({claim.place}){{ .said }}'


def unbroken(text: str) -> str:
    return f'<span class="unbroken">{text}</span>' if text else ""


def table(paths: list[Path], chapter: str, language: str) -> str:
    """The claims of test files as a table in Markdown, under their number."""
    told, words = [claim for path in paths for claim in claims(path, chapter)], WORDS[language]
    if not told:
        return f"{words['none']}\n"
    figures = measurements()
    lines: list[tuple[str, ...]] = [words["heads"], ("---", "---")]
    for claim in told:
        changes = "; ".join(claim.changes)
        fails = f'<span lang="en">{html.escape(changes)}</span>' if changes else ""
        lines.append((linked(claim) + beside(claim, figures, language), fails))
    counts = words["counts"].format(
        claims=len(told), changes=sum(len(claim.changes) for claim in told)
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
    texts = [translation.parse_text(page.text) for page in pages]
    told = all_claims()
    return {
        "claims": len(told),
        "changes": sum(len(claim.changes) for claim in told),
        "measured": len(measurements()),
        "pages": len(pages),
        "examples": len([*(paths.SNIPPETS / "examples").rglob("*.py")]),
        "exercises": sum(len(translation.exercises(text)) // 2 for text in texts),
        "figures": len({part.what for text in texts for part in translation.figures(text)}),
        "widgets": sum(text.full.count('<div class="widget"') for text in texts),
        "labs": sum(page.is_notebook for page in pages),
        "works": len(bibliography.works("en")),
    }


def numbers_list(counted: dict[str, int], language: str) -> str:
    words = WORDS[language]["numbers"]
    return "".join(f"- **{count}** {words[name]}\n" for name, count in counted.items())


def write() -> None:
    """All includes of the page on proofs; those of a page without claims say so."""
    known, counted = chapters(), numbers()
    for language in LANGUAGES:
        made = paths.GENERATED / language / "claims"
        for page in list_pages(language):
            name = page.name.removesuffix(".md")
            write_file(made / f"{name}.md", table(known.get(name, []), name, language))
        write_file(made / "measured.md", measured_table(language))
        write_file(made / "numbers.md", numbers_list(counted, language))
