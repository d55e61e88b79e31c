"""The claims of the book: each is a test of tests/snippets, and its name is the claim."""

import ast
import functools
import html
from pathlib import Path
from typing import NamedTuple

import yaml

import book

TESTS = book.ROOT / "tests" / "snippets"
WORDS = {
    "en": {
        "counts": "{claims} claims, {changes} changes of the code that they catch.",
        "heads": ("Claim", "Fails if"),
    },
    "zh": {
        "counts": "{claims} 条论断，能抓住 {changes} 处改错的代码。",
        "heads": ("论断", "代码这样一改就不成立"),
    },
}


class Claim(NamedTuple):
    """What a test proves, and the changes of the code that make it fail."""

    test: str  # test_masks.py::test_the_pad_id_is_0_unless_told
    says: str  # the pad id is 0 unless told
    changes: list[str]


def chapters() -> dict[str, list[Path]]:
    """The test files of each chapter that has any: test_training.py, test_training_chapter.py."""
    found = {}
    for name in sorted(page.name.removesuffix(".md") for page in book.pages("en")):
        stem = f"test_{name.replace('-', '_')}"
        files = [path for each in (stem, f"{stem}_*") for path in sorted(TESTS.glob(f"{each}.py"))]
        if files:
            found[name] = files
    return found


@functools.cache
def mutations(path: Path, mtime: int) -> list[dict[str, str]]:
    return yaml.safe_load(path.read_text(encoding="utf-8")) or []


@functools.cache
def claims(path: Path, newest: int) -> list[Claim]:
    """The claims of a test file, in its order; newest: when any file of TESTS changed last."""
    files = sorted(TESTS.glob("mutations*.yml"))
    rows = [row for each in files for row in mutations(each, each.stat().st_mtime_ns)]
    found = []
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            test = f"{path.name}::{node.name}"
            changes = [row["what"] for row in rows if row["by"].partition("[")[0] == test]
            says = node.name.removeprefix("test_").replace("_", " ")
            found.append(Claim(test, says, changes))
    return found


def table(paths: list[Path], language: str) -> str:
    """The claims of test files as a table in Markdown, under their number."""
    newest = max(each.stat().st_mtime_ns for each in TESTS.iterdir())
    told, words = [claim for path in paths for claim in claims(path, newest)], WORDS[language]
    changes = sum(len(claim.changes) for claim in told)
    rows: list[tuple[str, ...]] = [words["heads"], ("---", "---")]
    for claim in told:
        cells = (claim.says, "; ".join(claim.changes))
        rows.append(
            tuple(f'<span lang="en">{html.escape(cell)}</span>' if cell else "" for cell in cells)
        )
    counts = words["counts"].format(claims=len(told), changes=changes)
    return f"{counts}\n\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)
