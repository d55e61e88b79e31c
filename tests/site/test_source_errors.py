"""A strict build of the sample book fails for each error in its sources: the message has the file,
the line and the remedy, the old site is unchanged, and repaired it builds the same bytes again.

Other errors of the same kinds are in the tests of bookbuild, which need no build.
"""

import re
import shutil
from pathlib import Path

import pytest

import sample_book
from bookbuild.check.mark_translated import mark_translated
from built_pages import ROOT
from fault_injection import build, built_files, check_repaired, check_stopped
from sample_book import change, line_of

PAGE, ZH = "docs/en/index.md", "docs/zh/index.md"
OTHER, OTHER_ZH = "docs/en/other.md", "docs/zh/other.md"
TINY, SAY = "snippets/tiny.py", "snippets/examples/chapter/say.py"
FIGURES, CLAIMS = "scripts/figures/chapter.py", "tests/claims/test_other.py"
QUIZ, REFERENCES = "docs/quizzes/other.yml", "docs/references.bib"
LAB = "docs/en/labs/lab.ipynb"
UNUSED, TEMPLATE = "snippets/examples/chapter/alone.py", "overrides/main.html"
QUESTION = """\
- en: Is $a^2$ a square?
  zh: $a^2$ 是平方吗？
  choices:
    - {en: "Yes", zh: 是, right: true, en_why: It is so., zh_why: 是的。}
    - {en: "No", zh: 不是, en_why: It is., zh_why: 是的。}
    - {en: Who knows, zh: 谁知道, en_why: We do., zh_why: 我们知道。}
"""
SECOND_SECTION = "# --8<-- [start:second]\nx = 1\n# --8<-- [end:second]\n"
UNSHOWN_FIGURE = "\n\n@figure(en={}, zh={})\ndef wave(label):\n    return canvas()[0]\n"
ENDLESS = "import time\n\nwhile True:\n    time.sleep(1)\nfrom tiny"
DOWNLOADING = "from urllib.request import urlopen\n\nurlopen('http://127.0.0.1:9/')\nfrom tiny"
UNCITED = "@misc{a2020b, author = {A}, year = 2020, title = {B}, url = {c}}\n"
IN_A_PART = "  - other.md\n  - Part:\n      - none.md\n"
TIMEOUT = 6  # seconds for an example of the sample book


def add_quiz(folder: Path) -> None:
    """Give a page of the small book a quiz."""
    (folder / "docs/quizzes").mkdir()
    (folder / QUIZ).write_text(5 * QUESTION, encoding="utf-8")
    for page in (OTHER, OTHER_ZH):
        with open(folder / page, "a", encoding="utf-8") as file:
            file.write('\n## Quiz { #quiz }\n\n--8<-- "quizzes/other.md"\n')


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample book without errors, which was built once."""
    folder = sample_book.make_sample_book(tmp_path_factory.mktemp("errors") / "book")
    add_quiz(folder)
    sample_book.add_lab(folder, 'SITE = "https://transformer.example/"\nprint(1 + 1)')
    (folder / "overrides").unlink()
    shutil.copytree(ROOT / "overrides", folder / "overrides")
    jobs = folder / "scripts/bookbuild/run/jobs.py"
    change(jobs, "\nEXAMPLE_TIMEOUT = 120", f"\nEXAMPLE_TIMEOUT = {TIMEOUT}")
    with pytest.MonkeyPatch.context() as patch:
        sample_book.set_book_paths(folder, patch)
        mark_translated("other")
    status, output = build(folder)
    assert status == 0, output
    assert (folder / "site/zh/other/index.html").exists()
    return shutil.copytree(folder, folder.with_name("intact"), symlinks=True)


@pytest.fixture
def book(intact: Path) -> Path:
    """The sample book as it was built, in the folder where it was built: the keys of its caches
    depend on its path."""
    folder = intact.with_name("book")
    shutil.rmtree(folder)
    return shutil.copytree(intact, folder, symlinks=True)


@pytest.fixture(scope="module")
def before(intact: Path) -> dict[str, str]:
    return built_files(intact)


SAME = ""  # the file with the error is the broken one
EXPECTED = "MkDocs itself says the place, and what it expects there"

# Each row: a file, a piece of it and its replacement (None: the file is deleted; no piece: text is
# appended); then the message: its file, the piece whose line it names (none: line 1), its text.
# Of each kind of source, what writers meet most; the others run only with --all.
USUAL_ERRORS = [
    (OTHER_ZH, None, None, OTHER, "", "no translation docs/zh/other.md; write it and run"),
    (PAGE, "# Small", "# Smaller", ZH, "", "docs/en/index.md has changed since this page was"),
    (PAGE, "other.md#there", "none.md", SAME, "none.md", "is not found among documentation"),
    ("mkdocs.yml", "  - other.md\n", "", OTHER, "", "the page isn't in the nav; add other.md to"),
    (PAGE, "say: number", "say: none", SAME, "none", "0 lines of outputs/examples/chapter/say"),
    (PAGE, "$x^2$", "$\\frac{1}$", SAME, "frac", "KaTeX parse error:"),
    (SAY, "double(21)", "1 / 0", SAME, "1 / 0", "ZeroDivisionError: division by zero; correct"),
    (LAB, "print(1 + 1)", "print(1 / 0)", SAME, "1 / 0", "cell 1: ZeroDivisionError: division"),
]
OTHER_ERRORS = [
    ("mkdocs.yml", "  - other.md\n", IN_A_PART, SAME, "none", "the nav lists none.md, which"),
    (PAGE, " { #section }", "", SAME, "## Section", "heading without an anchor; add one in"),
    (OTHER, "", "\n```python\nx = 1\n", SAME, "```python", "this block of code has no end; add"),
    (OTHER, '--8<-- "quizzes/other.md"\n', "", QUIZ, "", "docs/en shows the quiz; add --8<--"),
    (PAGE, "description: A small book.", "title: Small", SAME, "", "has no description; describe"),
    (TINY, "    return 2 * x", "    return 2 *", SAME, "return 2", "SyntaxError: invalid syntax"),
    (LAB, '"nbformat": 4', '"nbformat" 4', SAME, '"nbformat" 4', "invalid notebook:"),
    (TINY, "", SECOND_SECTION, SAME, "[start:second]", "docs/en shows section second 0 times"),
    (OTHER, "", "\nText.[^a]\n\n[^a]: @nobody2020.\n", SAME, "[^a]: @", "[^a] cites @nobody2020"),
    (PAGE, "A small book.", "A book: small", SAME, "description", "invalid YAML: mapping values"),
    (ZH, "other.md#there", "#none", SAME, "#none", "there is no such anchor on this page"),
    (PAGE, "description: A small book.", "A small book.", SAME, "A small", "front matter is not a"),
    (OTHER, "---\nd", "\ufeff---\nd", SAME, "", "starts with a byte order mark; save it as UTF-8"),
    (OTHER, "", "Caf\udce9", SAME, "Caf", "is not valid UTF-8; save the file as UTF-8"),
    (
        OTHER,
        "Other.\n",
        "Other.\r\n",
        SAME,
        "Other.",
        "has CRLF line endings; save it with LF, and",
    ),
    (OTHER, "", "\nText.[^a]\n\n[^a]: Somewhere.\n", SAME, "[^a]: S", "[^a] cites no reference"),
    (UNUSED, "", "print(1)\n", SAME, "", "no page of docs/en shows outputs/examples/chapter/alone"),
    (FIGURES, "", UNSHOWN_FIGURE, SAME, "", "no page of docs/en shows figures/chapter/wave.svg"),
    (FIGURES, "    return fig\n", "", SAME, "def line", "ValueError: line returns no figure; end"),
    (SAY, "from tiny", ENDLESS, SAME, "", "did not end within 6 s and was stopped; make it faster"),
    (SAY, "from tiny", DOWNLOADING, SAME, "urlopen('", "urllib.error.URLError: <urlopen error"),
    (
        LAB,
        '"execution_count": null',
        '"execution_count": 1',
        SAME,
        "",
        "the notebook contains outputs",
    ),
    (QUIZ, 5 * QUESTION, 4 * QUESTION, SAME, "", "4 questions; a quiz has 5"),
    (REFERENCES, "", UNCITED, SAME, "@misc", "a2020b is not cited; cite it on a page, or remove"),
    (CLAIMS, "#there", "#nowhere", SAME, "def", "docs/en/other.md has no anchor #nowhere"),
    ("mkdocs.yml", "\nnav:\n", "\nnav: [\n", SAME, "- index.md", EXPECTED),
    (TEMPLATE, "", "{% if %}\n", SAME, "{% if %}", "Expected an expression,"),
]
ERRORS = [*USUAL_ERRORS, *(pytest.param(*row, marks=pytest.mark.slow) for row in OTHER_ERRORS)]


def expected_message(folder: Path, file: str, piece: str | None, message: str) -> str:
    """The message of the broken build, as a regular expression."""
    number = line_of(folder / file, piece) if piece else 1
    if message == EXPECTED:
        return rf'\n[^\n]*expected [^"]*"{re.escape(file)}", line {number}\b'
    where = file if piece is None else f"{file}:{number}"
    return rf"{re.escape(where)}: .*{re.escape(message)}.*"


def break_file(path: Path, old: str | None, new: str) -> None:
    if old is None:
        path.unlink()
    elif old:
        change(path, old, new)
    else:
        with open(path, "a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(new)


@pytest.mark.parametrize(("file", "old", "new", "place", "piece", "message"), ERRORS)
def test_a_strict_build_fails_and_can_be_repaired(
    intact, book, before, file, old, new, place, piece, message
):
    break_file(book / file, old, new)
    expected = expected_message(book, place or file, piece, message)
    broken = build(book)
    assert re.search(expected, broken.output), f"no message {expected}:\n{broken.output}"
    check_stopped(book, broken, before)
    (book / file).unlink(missing_ok=True)
    if (intact / file).exists():
        shutil.copy2(intact / file, book / file)
    check_repaired(book, before)


def test_the_intact_book_is_built_again_without_a_warning_and_equal(book, before):
    assert "WARNING" not in build(book).output
    assert built_files(book) == before
