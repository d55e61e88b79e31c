"""A strict build of the sample book fails for each error in its sources: the message has the file,
the line and the remedy, the old site is unchanged, and repaired it builds the same bytes again.

The builds run in forks of a process that has imported MkDocs (warm_mkdocs.py).
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import sample_book
from bookbuild.check.pending import mark_translated
from bookbuild.pages.labs import notebooks
from built_pages import ROOT
from fault_injection import (
    CACHE_PATTERNS,
    LOCK_PATTERNS,
    build,
    built_files,
    check_repaired,
    check_stopped,
    different_files,
    file_hashes,
    partial_files,
)
from sample_book import change, line_of
from warm_mkdocs import WarmMkDocs

PAGE, TRANSLATION = "docs/en/index.md", "docs/zh/index.md"
OTHER, OTHER_TRANSLATION = "docs/en/other.md", "docs/zh/other.md"
TINY, SAY = "snippets/tiny.py", "snippets/examples/chapter/say.py"
FIGURES, CLAIMS = "scripts/figures/chapter.py", "tests/claims/test_other.py"
QUIZ, GLOSSARY = "docs/quizzes/other.yml", "docs/glossary.yml"
REFERENCES = "docs/references.bib"
LAB, LAB_TRANSLATION = "docs/en/labs/lab.ipynb", "docs/zh/labs/lab.ipynb"
UNUSED, LINKED = "snippets/examples/chapter/alone.py", "docs/en/linked.md"
TEMPLATE = "overrides/main.html"
QUESTION = """\
- en: Is $a^2$ a square?
  zh: $a^2$ 是平方吗？
  choices:
    - {en: "Yes", zh: 是, right: true, en_why: "See [there](#there).", zh_why: "见[那里](#there)。"}
    - {en: "No", zh: 不是, en_why: It is., zh_why: 是的。}
    - {en: Who knows, zh: 谁知道, en_why: We do., zh_why: 我们知道。}
"""
SECOND_SECTION = "# --8<-- [start:second]\nx = 1\n# --8<-- [end:second]\n"
FIGURE_WITHOUT_RETURN = "\n\n@figure(en={}, zh={})\ndef wave(label):\n    return canvas()[0]\n"
ENDLESS_EXAMPLE = "import time\n\nwhile True:\n    time.sleep(1)\n"
DOWNLOADING_EXAMPLE = "from urllib.request import urlopen\n\nurlopen('http://127.0.0.1:9/')\n"
TIMEOUT = 6  # seconds for an example of the sample book


def add_quiz(folder: Path) -> None:
    """Give a page of the small book a quiz."""
    (folder / "docs/quizzes").mkdir()
    (folder / QUIZ).write_text(
        QUESTION.replace("[there]", "[here]") + 4 * QUESTION, encoding="utf-8"
    )
    for page in (OTHER, OTHER_TRANSLATION):
        with open(folder / page, "a", encoding="utf-8") as file:
            file.write('\n## Quiz { #quiz }\n\n--8<-- "quizzes/other.md"\n')


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory, mkdocs: WarmMkDocs) -> Path:
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
    status, output = build(folder, mkdocs)
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
def rebuilt_states() -> set[frozenset[tuple[str, str]]]:
    """The files, and their hashes, by which books that were repaired and built differed from the
    intact one, which a test builds again."""
    return {frozenset()}


# How bytes are broken


def add_bom(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


def use_crlf(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def add_latin_1(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"Caf\xe9\n")


def make_dangling_link(path: Path) -> None:
    path.symlink_to("nowhere.md")


def truncate_json(path: Path) -> None:
    path.write_bytes(path.read_bytes().partition(b'format"')[0])


def add_output(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"][1]["execution_count"] = 1
    path.write_text(notebooks.canonical_json(notebook), encoding="utf-8")


RERUN = "; correct it, then run scripts/generate {}"
RERUN_SAY, RERUN_LINE, RERUN_LAB = (
    RERUN.format(name) for name in ("examples/chapter/say", "figures/chapter/line", "labs/lab")
)
LINK_REMEDY = "; correct the link, or write what it leads to"
KATEX_REMEDY = "...; katex.org/docs/supported.html lists what there is"
YAML_REMEDY = '; quote a text that contains ": " or starts with [ { & or *'
ENGLISH_HAS_CHANGED = "docs/en/index.md has changed since this page was reviewed; update it and run"

LAST_LINE = "the last line"
MKDOCS_MESSAGE = "MkDocs itself says the place, and what it expects there"

# The edit: a file, and how it is broken, or a piece of it with its replacement (no piece: text is
# appended). The message: its file, the piece whose line it names (none: line 1), and its text.
Edit = tuple[str, str | Callable[[Path], None] | None, str | None]
ERRORS: dict[str, tuple[Edit, tuple[str, str | None, str]]] = {
    # Pages
    "a page without its twin": (
        (OTHER_TRANSLATION, None, None),
        (
            OTHER,
            "",
            "no translation docs/zh/other.md; write it and run scripts/translated other, or run",
        ),
    ),
    "a changed English page": (
        (PAGE, "# Small", "# Smaller"),
        (TRANSLATION, "", f"{ENGLISH_HAS_CHANGED} scripts/translated index"),
    ),
    "a page without a description": (
        (PAGE, "description: A small book.", "title: Small"),
        (PAGE, "", "has no description; describe the page in its front matter, in one sent"),
    ),
    "a colon in a description": (
        (PAGE, "A small book.", "A book: small"),
        (PAGE, "description", f"invalid YAML: mapping values are not allowed here{YAML_REMEDY}"),
    ),
    "a bracket in a description": (
        (TRANSLATION, "一本小书。", "[一本小书"),
        (TRANSLATION, "description", f"invalid YAML: ...{YAML_REMEDY}"),
    ),
    "a front matter that is no mapping": (
        (PAGE, "description: A small book.", "A small book."),
        (PAGE, "A small book.", "the front matter is not a mapping; write description: TEXT"),
    ),
    "a dead link": (
        (PAGE, "other.md#there", "none.md"),
        (PAGE, "none.md", f"... is not found among documentation files{LINK_REMEDY}"),
    ),
    "a dead anchor": (
        (PAGE, "other.md#there", "other.md#none"),
        (PAGE, "other.md#none", f"... does not contain an anchor '#none'{LINK_REMEDY}"),
    ),
    "a dead anchor of its own": (
        (TRANSLATION, "other.md#there", "#none"),
        (TRANSLATION, "#none", f"... there is no such anchor on this page{LINK_REMEDY}"),
    ),
    "a page with a byte order mark": (
        (OTHER, add_bom, None),
        (OTHER, "", "starts with a byte order mark; save it as UTF-8 without BOM"),
    ),
    "a page that isn't in UTF-8": (
        (OTHER, add_latin_1, None),
        (OTHER, LAST_LINE, "is not valid UTF-8; save the file as UTF-8"),
    ),
    "a page with the line ends of Windows": (
        (OTHER, use_crlf, None),
        (OTHER, "", "has CRLF line endings; save it with LF, and run git config"),
    ),
    "a link to a file that isn't there": (
        (LINKED, make_dangling_link, None),
        (LINKED, "", "broken symbolic link to nowhere.md; fix or remove it"),
    ),
    "a page in no nav": (
        ("mkdocs.yml", "  - other.md\n", ""),
        (OTHER, "", "the page isn't in the nav; add other.md to mkdocs.yml"),
    ),
    "a nav that leads nowhere": (
        ("mkdocs.yml", "  - other.md\n", "  - other.md\n  - none.md\n"),
        ("mkdocs.yml", "none.md", "the nav lists none.md, which doesn't exist; correct the"),
    ),
    # What a page includes
    "a missing section": (
        (PAGE, "tiny.py:first", "tiny.py:none"),
        (PAGE, "tiny.py:none", "no section none in tiny.py; it has: first"),
    ),
    "a missing file": (
        (PAGE, "examples/chapter/say.py", "examples/none.py"),
        (
            PAGE,
            "examples/none.py",
            "missing file examples/none.py in snippets/ or .generated/; correct",
        ),
    ),
    "a mark without its end": (
        (TINY, "# --8<-- [end:first]\n", ""),
        (TINY, "[start:first]", "section first has no end marker; add --8<-- [end:first] below it"),
    ),
    "a mark without its start": (
        (TINY, "# --8<-- [start:first]\n", ""),
        (
            TINY,
            "[end:first]",
            "unmatched end marker of section first; add its start marker or remove it",
        ),
    ),
    "an unknown value": (
        (PAGE, "say: number", "say: none"),
        (
            PAGE,
            "say: none",
            "0 lines of outputs/examples/chapter/say.txt start with 'none: ', expected 1; "
            "use one of its labels: number",
        ),
    ),
    "an output that no page shows": (
        (UNUSED, "", "print(1)\n"),
        (UNUSED, "", "no page of docs/en shows outputs/examples/chapter/alone.txt; add it to a"),
    ),
    "a section that no page shows": (
        (TINY, "", SECOND_SECTION),
        (
            TINY,
            "[start:second]",
            'docs/en shows section second 0 times; show it once: --8<-- "tiny.py:second"',
        ),
    ),
    # Formulas and figures
    "a broken formula": (
        (PAGE, "$x^2$", r"$\frac{1}$"),
        (PAGE, "frac", f"KaTeX parse error: {KATEX_REMEDY}"),
    ),
    "a missing figure": (
        (PAGE, "chapter/line.svg", "chapter/none.svg"),
        (
            PAGE,
            "chapter/none.svg",
            "missing figure figures/chapter/none.svg; correct the name or add its function to "
            "scripts/figures/chapter.py",
        ),
    ),
    "a figure without alternative text": (
        (TRANSLATION, "一条上升的线。", ""),
        (
            TRANSLATION,
            "line.svg",
            "figures/chapter/line.svg has no alternative text; describe the figure",
        ),
    ),
    "a figure that no page shows": (
        (FIGURES, "", FIGURE_WITHOUT_RETURN),
        (FIGURES, "", "no page of docs/en shows figures/chapter/wave.svg; add it to a page or rem"),
    ),
    "a figure that fails": (
        (FIGURES, "double(1)", "nonesuch"),
        (FIGURES, "nonesuch", f"NameError: name 'nonesuch' is not defined{RERUN_LINE}"),
    ),
    "a figure that is not returned": (
        (FIGURES, "    return fig\n", ""),
        (FIGURES, "def line", "ValueError: line returns no figure; end it with return fig"),
    ),
    "a label in one language alone": (
        (FIGURES, '"位置"}', '"位置", "y": "值"}'),
        (FIGURES, "@figure", f"ValueError: labels in one language only: y{RERUN_LINE}"),
    ),
    "a label that a figure doesn't have": (
        (FIGURES, 'label["x"]', 'label["y"]'),
        (FIGURES, 'label["y"]', f"KeyError: 'y'{RERUN_LINE}"),
    ),
    "a file of figures with a syntax error": (
        (FIGURES, "def line(label):", "def line(label:"),
        (FIGURES, "def line", "SyntaxError: '(' was never closed; correct it"),
    ),
    # Examples
    "an example that raises": (
        (SAY, "double(21)", "1 / 0"),
        (SAY, "1 / 0", f"ZeroDivisionError: division by zero{RERUN_SAY}"),
    ),
    "an example with a syntax error": (
        (SAY, "double(21))", "double(21)"),
        (SAY, "print(", f"SyntaxError: '(' was never closed{RERUN_SAY}"),
    ),
    "a snippet with a syntax error": (
        (TINY, "    return 2 * x", "    return 2 *"),
        (TINY, "return 2", f"SyntaxError: invalid syntax{RERUN_SAY}"),
    ),
    "an example that prints nothing": (
        (SAY, 'print("number:", double(21))', ""),
        (SAY, "", "prints nothing; print the output that a page shows"),
    ),
    "an example that never ends": (
        (SAY, "from tiny", ENDLESS_EXAMPLE + "from tiny"),
        (SAY, "", f"did not end within {TIMEOUT} s and was stopped; make it faster"),
    ),
    "an example that needs the network": (
        (SAY, "from tiny", DOWNLOADING_EXAMPLE + "from tiny"),
        (SAY, "urlopen('", f"urllib.error.URLError: ... Connection refused>{RERUN_SAY}"),
    ),
    "an example that needs what isn't installed": (
        (SAY, "from tiny", "import nonesuch\nfrom tiny"),
        (SAY, "", f"ModuleNotFoundError: No module named 'nonesuch'{RERUN_SAY}"),
    ),
    "an example that reads what isn't there": (
        (SAY, "from tiny", "open('none.json')\nfrom tiny"),
        (SAY, "", f"FileNotFoundError: ... 'none.json'{RERUN_SAY}"),
    ),
    "an example that is killed": (
        (SAY, "from tiny", "import os\n\nos.kill(os.getpid(), 9)\nfrom tiny"),
        (SAY, "", "the process died (-9); check that memory is sufficient"),
    ),
    # Labs
    "a lab whose cell raises": (
        (LAB, "print(1 + 1)", "print(1 / 0)"),
        (LAB, "print(1 / 0)", f"cell 1: ZeroDivisionError: division by zero{RERUN_LAB}"),
    ),
    "a lab with other code than its twin": (
        (LAB_TRANSLATION, "print(1 + 1)", "print(1 + 2)"),
        (
            LAB_TRANSLATION,
            "SITE",
            "this cell differs from its translation in kind, id, tags or code; make bo",
        ),
    ),
    "a lab with outputs": (
        (LAB, add_output, None),
        (LAB, "", "the notebook contains outputs; clear them before you save it"),
    ),
    "a lab that is cut short": (
        (LAB, truncate_json, None),
        (LAB, ' "nb', "invalid notebook: ...; run git restore, or save it again in Jupyter"),
    ),
    # Quizzes, the glossary, sources and claims
    "a quiz with a question too few": (
        (QUIZ, 4 * QUESTION, 3 * QUESTION),
        (QUIZ, "", "4 questions; a quiz has 5"),
    ),
    "a quiz without a right choice": (
        (QUIZ, 'right: true, en_why: "See [here]', 'en_why: "See [here]'),
        (QUIZ, "", "question 1 has 0 right choices; mark exactly one with 'right: true'"),
    ),
    "a quiz that is no YAML": (
        (QUIZ, QUESTION.replace("[there]", "[here]"), "- en: Is it: so?\n"),
        (QUIZ, "", f"invalid YAML: mapping values are not allowed here{YAML_REMEDY}"),
    ),
    "a dead anchor in a quiz": (
        (QUIZ, "[here](#there)", "[here](#none)"),
        (QUIZ, "#none", f"... there is no such anchor on this page{LINK_REMEDY}"),
    ),
    "a broken formula in a quiz": (
        (QUIZ, "[here](#there)", r"$\\frac{1}$"),
        (QUIZ, "frac", f"KaTeX parse error: {KATEX_REMEDY}"),
    ),
    "a footnote that cites nothing": (
        (OTHER, "", "\nText.[^a]\n\n[^a]: Somewhere.\n"),
        (OTHER, "[^a]: Some", "[^a] cites no reference; write @KEY, a key of references.bib"),
    ),
    "a footnote that cites an unknown key": (
        (OTHER, "", "\nText.[^a]\n\n[^a]: @nobody2020.\n"),
        (
            OTHER,
            "[^a]: @",
            "[^a] cites @nobody2020, which references.bib doesn't have; correct the key, or add it",
        ),
    ),
    "a reference that is not cited": (
        (REFERENCES, "", "@misc{a2020b, author = {A}, title = {B}, year = 2020, url = {c}}\n"),
        (REFERENCES, "@misc", "a2020b is not cited; cite it on a page, or remove it"),
    ),
    "a reference without a title": (
        (REFERENCES, "", "@misc{a2020b, author = {A}, year = 2020, url = {c}}\n"),
        (REFERENCES, "@misc", "a2020b has no title; add title = {TITLE}"),
    ),
    "references that are no BibTeX": (
        (REFERENCES, "", "@misc{a2020b, author {A}}\n"),
        (REFERENCES, "@misc", "invalid BibTeX: '=' expected; correct it"),
    ),
    "a claim with a missing anchor": (
        (CLAIMS, "#there", "#nowhere"),
        (CLAIMS, "def", "docs/en/other.md has no anchor #nowhere; correct other.md#nowhere or"),
    ),
    "a test without a claim": (
        (CLAIMS, '@claim("other#there", kind="mathematics")', ""),
        (CLAIMS, "def", "test_it_is_so has 0 @claim decorators; give it one: @claim("),
    ),
    "a claim about code without a mutation": (
        (CLAIMS, ', kind="mathematics"', ""),
        (CLAIMS, "def", "test_it_is_so is a claim about code without a mutation; add @mutation"),
    ),
    "a term of the glossary that leads nowhere": (
        (GLOSSARY, "#there", "#none"),
        (
            GLOSSARY,
            "#none",
            "docs/en/other.md has no anchor #none; correct other.md#none or the page",
        ),
    ),
    "a term of the glossary without its Chinese": (
        (GLOSSARY, " zh: 词元,", ""),
        (
            GLOSSARY,
            "",
            "entry without zh; each needs en, zh, anchor, where, en_meaning, zh_meaning",
        ),
    ),
    "a glossary that is no YAML": (
        (GLOSSARY, "en: token, ", "en: token, ["),
        (GLOSSARY, "", f"invalid YAML: ...{YAML_REMEDY}"),
    ),
    # Settings, templates and locks
    "settings that are no YAML": (
        ("mkdocs.yml", "\nnav:\n", "\nnav: [\n"),
        ("mkdocs.yml", "- index.md", MKDOCS_MESSAGE),
    ),
    "Chinese settings that are no YAML": (
        ("mkdocs.zh.yml", "\ntheme:\n", "\ntheme: [\n"),
        ("mkdocs.zh.yml", "language: zh", MKDOCS_MESSAGE),
    ),
    "a template that can't be read": (
        (TEMPLATE, "", "{% if %}\n"),
        (
            TEMPLATE,
            "{% if %}",
            "Expected an expression, ...; correct the template, or git restore it",
        ),
    ),
    "a lock that is gone": (
        ("package-lock.json", None, None),
        ("package-lock.json", None, "file not found; run git restore, or scripts/install"),
    ),
}


# Of each kind of source, what writers meet most; the others run only with --all.
USUAL_ERRORS = {
    *("a page without its twin", "a changed English page", "a page without a description"),
    *("a dead link", "a dead anchor", "a page in no nav", "an unknown value"),
    *("a section that no page shows", "a broken formula", "a figure without alternative text"),
    *("an example that raises", "a snippet with a syntax error", "a lab whose cell raises"),
    *("a lab with other code than its twin", "a footnote that cites an unknown key"),
}
assert ERRORS.keys() >= USUAL_ERRORS


def expected_message(folder: Path, name: str) -> str:
    """The message of the broken build, as a regular expression."""
    _, (file, piece, message) = ERRORS[name]
    number = line_of(folder / file, piece) if piece and piece != LAST_LINE else 1
    if piece == LAST_LINE:
        number = (folder / file).read_bytes().count(b"\n")
    if message == MKDOCS_MESSAGE:
        return rf'\n[^\n]*expected [^"]*"{re.escape(file)}", line {number}\b'
    where = file if piece is None else f"{file}:{number}"
    return re.escape(f"{where}: {message}").replace(r"\.\.\.", ".*")


def break_file(path: Path, how: str | Callable[[Path], None] | None, new: str | None) -> None:
    if callable(how):
        how(path)
    elif how is None:
        path.unlink()
    elif how:
        change(path, how, new or "")
    else:
        with open(path, "a", encoding="utf-8") as opened:
            opened.write(new or "")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in USUAL_ERRORS else pytest.mark.slow) for name in ERRORS],
)
def test_a_strict_build_fails_and_can_be_repaired(
    intact, book, mkdocs, everything, rebuilt_states, name
):
    (file, how, new), _ = ERRORS[name]
    path = book / file
    break_file(path, how, new)
    expected = expected_message(book, name)
    broken = build(book, mkdocs)
    check_stopped(broken)
    found = re.search(expected, broken.output)
    assert found, f"no message {expected}:\n{broken.output}"
    assert not different_files(file_hashes(intact, "site"), file_hashes(book, "site"))
    assert not partial_files(book)

    path.unlink(missing_ok=True)
    if (intact / file).exists():
        shutil.copy2(intact / file, path)
    # Where a broken build has left the same bytes as one before, so does the build of the repaired
    # book.
    intact_files, files = file_hashes(intact, "."), file_hashes(book, ".")
    different = different_files(intact_files, files)
    state = frozenset((file, files.get(file, "")) for file in different)
    if everything or state not in rebuilt_states:
        rebuilt_states.add(state)
        repaired = build(book, mkdocs)
        check_repaired(repaired, different_files(built_files(intact), built_files(book)))


def test_the_intact_book_is_built_again_without_a_warning_and_equal(intact, book, mkdocs):
    before = file_hashes(intact, ".", ignored=LOCK_PATTERNS + CACHE_PATTERNS)
    status, output = build(book, mkdocs)
    assert (status, "WARNING" in output) == (0, False), output
    assert not different_files(
        before, file_hashes(book, ".", ignored=LOCK_PATTERNS + CACHE_PATTERNS)
    )


def test_a_build_that_is_not_published_has_no_link_to_a_card(intact):
    home = (intact / "site/index.html").read_text(encoding="utf-8")
    assert "og:title" in home
    assert "og:image" not in home
