"""A strict build of a small book stops for each fault, and tells the file and the line."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

import book
import small_book
from small_book import change, line


def build(folder: Path) -> tuple[int, str]:
    """What scripts/build does, in this folder."""
    done = subprocess.run(
        [Path(sys.executable).with_name("mkdocs"), "build", "--strict"],
        cwd=folder,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def add_quiz(folder: Path) -> None:
    """Give a page of the small book a quiz."""
    (folder / "docs/quizzes").mkdir()
    (folder / QUIZ).write_text(
        QUESTION.replace("[there]", "[here]") + 4 * QUESTION, encoding="utf-8"
    )
    for page in (OTHER, "docs/zh/other.md"):
        with open(folder / page, "a", encoding="utf-8") as file:
            file.write('\n## Quiz { #quiz }\n\n--8<-- "quizzes/other.md"\n')
    with pytest.MonkeyPatch.context() as patch:
        small_book.use(folder, patch)
        book.stamp("other")


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A small book without faults, built once."""
    folder = small_book.make(tmp_path_factory.mktemp("whole"))
    add_quiz(folder)
    status, told = build(folder)
    assert status == 0, told
    assert (folder / "site/zh/other/index.html").exists()
    return folder


PAGE, TWIN, OTHER = "docs/en/index.md", "docs/zh/index.md", "docs/en/other.md"
TINY, SAY = "snippets/tiny.py", "snippets/examples/chapter/say.py"
FIGURES, CLAIMS = "scripts/figures/chapter.py", "tests/snippets/test_other.py"
QUIZ, GLOSSARY = "docs/quizzes/other.yml", "docs/glossary.yml"
CHANGES = "docs/changes.yml"
QUESTION = """\
- en: Is $a^2$ a square?
  zh: $a^2$ 是平方吗？
  choices:
    - {en: "Yes", zh: 是, right: true, en_why: "See [there](#there).", zh_why: "见[那里](#there)。"}
    - {en: "No", zh: 不是, en_why: It is., zh_why: 是的。}
    - {en: Who knows, zh: 谁知道, en_why: We do., zh_why: 我们知道。}
"""

ALONE = "# --8<-- [start:second]\nx = 1\n# --8<-- [end:second]\n"
WAVE = "\n\n@figure(en={}, zh={})\ndef wave(label):\n    return canvas()[0]\n"
STALE = "docs/en/index.md has changed since this page was checked"

# What is broken in which file: a piece of it and what it becomes (no piece: something is added);
# then what is told, of which file, and of the line where which piece stands (none: line 1).
FAULTS = {
    "an example that raises": (
        (SAY, "double(21)", "1 / 0"),
        (SAY, "1 / 0", "ZeroDivisionError: division by zero"),
    ),
    "an example that prints nothing": (
        (SAY, 'print("number:", double(21))', ""),
        (SAY, "", "prints nothing"),
    ),
    "a figure that fails": (
        (FIGURES, "double(1)", "nonesuch"),
        (FIGURES, "nonesuch", "NameError: name 'nonesuch' is not defined"),
    ),
    "a missing section": (
        (PAGE, "tiny.py:first", "tiny.py:none"),
        (PAGE, "tiny.py:none", "no section none in tiny.py; it has first"),
    ),
    "a missing file": (
        (PAGE, "examples/chapter/say.py", "examples/none.py"),
        (PAGE, "examples/none.py", "no file examples/none.py"),
    ),
    "a mark without its end": (
        (TINY, "# --8<-- [end:first]\n", ""),
        (TINY, "[start:first]", "section first has no end mark"),
    ),
    "a page without its twin": (
        ("docs/zh/other.md", None, None),
        (OTHER, "", "has no twin docs/zh/other.md"),
    ),
    "a dead link": ((PAGE, "other.md#there", "none.md"), (PAGE, "none.md", "")),
    "a dead anchor": ((PAGE, "other.md#there", "other.md#none"), (PAGE, "other.md#none", "")),
    "a dead anchor of its own": ((TWIN, "other.md#there", "#none"), (TWIN, "#none", "")),
    "a broken formula": ((PAGE, "$x^2$", r"$\frac{1}$"), (PAGE, "frac", "KaTeX parse error")),
    "an unknown value": (
        (PAGE, "say: number", "say: none"),
        (PAGE, "say: none", "0 lines of outputs/examples/chapter/say.txt begin with 'none: '"),
    ),
    "a missing figure": (
        (PAGE, "chapter/line.svg", "chapter/none.svg"),
        (PAGE, "chapter/none.svg", "no figures/chapter/none.svg"),
    ),
    "a figure without alternative text": (
        (TWIN, "一条上升的线。", ""),
        (TWIN, "line.svg", "figures/chapter/line.svg has no alternative text"),
    ),
    "an output that no page shows": (
        ("snippets/examples/chapter/alone.py", "", "print(1)\n"),
        ("snippets/examples/chapter/alone.py", "", "no page of docs/en shows its output"),
    ),
    "a section that no page shows": (
        (TINY, "", ALONE),
        (TINY, "[start:second]", "section second is shown in no page of docs/en"),
    ),
    "a figure that no page shows": (
        (FIGURES, "", WAVE),
        (FIGURES, "", "no page of docs/en shows figures/chapter/wave.svg"),
    ),
    "a quiz with a question too few": (
        (QUIZ, 4 * QUESTION, 3 * QUESTION),
        (QUIZ, "", "4 questions; a quiz has 5"),
    ),
    "a dead anchor in a quiz": (
        (QUIZ, "[here](#there)", "[here](#none)"),
        (QUIZ, "#none", ""),
    ),
    "a broken formula in a quiz": (
        (QUIZ, "[here](#there)", r"$\\frac{1}$"),
        (QUIZ, "frac", "KaTeX parse error"),
    ),
    "a footnote that cites nothing": (
        (OTHER, "", "\nText.[^a]\n\n[^a]: Somewhere.\n"),
        (OTHER, "[^a]: Some", "[^a] cites neither a work"),
    ),
    "a claim whose place is gone": (
        (CLAIMS, "#there", "#nowhere"),
        (CLAIMS, "def", "a comment above says other.md#nowhere, which docs/en has not"),
    ),
    "a term of the glossary that leads nowhere": (
        (GLOSSARY, "#there", "#none"),
        (GLOSSARY, "#none", "token leads to #none, which docs/en/other.md doesn't have"),
    ),
    "a change that leads nowhere": (
        (CHANGES, "other.md#there", "other.md#none"),
        (CHANGES, "#none", "leads to #none, which docs/en/other.md doesn't have"),
    ),
    "a changed English page": ((PAGE, "# Small", "# Smaller"), (TWIN, "", STALE)),
}


def broken(whole: Path, folder: Path, fault: str) -> tuple[int, str]:
    """Build a copy of the book with this fault."""
    (file, old, new), _ = FAULTS[fault]
    shutil.copytree(whole, folder, symlinks=True)
    path = folder / file
    if old is None:
        path.unlink()
    elif old:
        change(path, old, new)
    else:
        path.touch()
        path.write_text(path.read_text() + new)
    return build(folder)


@pytest.fixture(scope="module")
def builds(whole) -> Iterator[dict[str, Future[tuple[int, str]]]]:
    """A broken build for each fault, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        yield {
            fault: pool.submit(broken, whole, whole.parent / f"broken-{number}", fault)
            for number, fault in enumerate(FAULTS)
        }


@pytest.mark.parametrize("fault", FAULTS)
def test_a_strict_build_stops_with_file_and_line_for(whole, builds, fault):
    _, (file, piece, message) = FAULTS[fault]
    status, told = builds[fault].result()
    assert status == 1, told
    path = whole.parent / f"broken-{[*FAULTS].index(fault)}" / file
    assert f"{file}:{line(path, piece)}: {message}" in told


def test_the_whole_small_book_is_built_again_without_a_warning(whole):
    status, told = build(whole)
    assert (status, "WARNING" in told) == (0, False), told


def test_a_build_that_is_not_published_leads_to_nothing_that_publishing_makes(whole):
    home = (whole / "site/index.html").read_text(encoding="utf-8")
    assert "og:title" in home
    assert "og:image" not in home
