"""A strict build of a small book stops for each fault in its sources: it tells the file, the
line and what to do, leaves the old site as it was, and once mended builds what it always built."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

import sample_book
from bookbuild.check.review import mark_translated
from bookbuild.pages import notebooks
from built_pages import ROOT
from fault_injection import Outcome, build, chosen, halves, told_line, tree, unlike
from sample_book import change, line

PAGE, TWIN = "docs/en/index.md", "docs/zh/index.md"
OTHER, OTHER_TWIN = "docs/en/other.md", "docs/zh/other.md"
TINY, SAY = "snippets/tiny.py", "snippets/examples/chapter/say.py"
FIGURES, CLAIMS = "scripts/figures/chapter.py", "tests/claims/test_other.py"
QUIZ, GLOSSARY = "docs/quizzes/other.yml", "docs/glossary.yml"
FEED, REFERENCES = "docs/changes.yml", "docs/references.bib"
LAB, LAB_TWIN = "docs/en/labs/lab.ipynb", "docs/zh/labs/lab.ipynb"
ALONE, LINKED = "snippets/examples/chapter/alone.py", "docs/en/linked.md"
BASE = "overrides/main.html"
QUESTION = """\
- en: Is $a^2$ a square?
  zh: $a^2$ 是平方吗？
  choices:
    - {en: "Yes", zh: 是, right: true, en_why: "See [there](#there).", zh_why: "见[那里](#there)。"}
    - {en: "No", zh: 不是, en_why: It is., zh_why: 是的。}
    - {en: Who knows, zh: 谁知道, en_why: We do., zh_why: 我们知道。}
"""
SECOND = "# --8<-- [start:second]\nx = 1\n# --8<-- [end:second]\n"
WAVE = "\n\n@figure(en={}, zh={})\ndef wave(label):\n    return canvas()[0]\n"
LOOP = "import time\n\nwhile True:\n    time.sleep(1)\n"
FETCH = "from urllib.request import urlopen\n\nurlopen('http://127.0.0.1:9/')\n"
SECONDS = 6  # for an example of the small book


def add_quiz(folder: Path) -> None:
    """Give a page of the small book a quiz."""
    (folder / "docs/quizzes").mkdir()
    (folder / QUIZ).write_text(
        QUESTION.replace("[there]", "[here]") + 4 * QUESTION, encoding="utf-8"
    )
    for page in (OTHER, OTHER_TWIN):
        with open(folder / page, "a", encoding="utf-8") as file:
            file.write('\n## Quiz { #quiz }\n\n--8<-- "quizzes/other.md"\n')


def add_lab(folder: Path) -> None:
    """Give the small book a lab of two cells."""
    for name, title in ((LAB, "# Lab\n"), (LAB_TWIN, "# 实验\n")):
        text = {"cell_type": "markdown", "id": "top", "metadata": {}, "source": [title]}
        code = {
            "cell_type": "code",
            "execution_count": None,
            "id": "sum",
            "metadata": {},
            "outputs": [],
            "source": ['SITE = "https://transformer.example/"\n', "print(1 + 1)"],
        }
        about = {"book": {"description": "A lab."}}
        notebook = {"cells": [text, code], "metadata": about, "nbformat": 4, "nbformat_minor": 5}
        (folder / name).parent.mkdir()
        (folder / name).write_text(notebooks.canonical_json(notebook), encoding="utf-8")
    for name in ("mkdocs.yml", "mkdocs.zh.yml"):
        change(folder / name, "  - other.md\n", "  - other.md\n  - labs/lab.md\n")


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A small book without faults, built once."""
    folder = sample_book.make(tmp_path_factory.mktemp("whole"))
    add_quiz(folder)
    add_lab(folder)
    (folder / "overrides").unlink()
    shutil.copytree(ROOT / "overrides", folder / "overrides")
    jobs = folder / "scripts/bookbuild/run/jobs.py"
    change(jobs, "\nEXAMPLE_TIMEOUT = 120", f"\nEXAMPLE_TIMEOUT = {SECONDS}")
    with pytest.MonkeyPatch.context() as patch:
        sample_book.use(folder, patch)
        for name in ("other", "labs/lab"):
            mark_translated(name)
    status, told = build(folder)
    assert status == 0, told
    assert (folder / "site/zh/other/index.html").exists()
    return folder


# How bytes are broken


def with_bom(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


def with_crlf(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def with_latin(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"Caf\xe9\n")


def with_link(path: Path) -> None:
    path.symlink_to("nowhere.md")


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes().partition(b'format"')[0])


def with_output(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"][1]["execution_count"] = 1
    path.write_text(notebooks.canonical_json(notebook), encoding="utf-8")


RERUN = "; mend it, then scripts/generate {} runs it alone"
SAID, DRAWN, DONE = (
    RERUN.format(name) for name in ("examples/chapter/say", "figures/chapter/line", "labs/lab")
)
LEADS = "; correct the link, or write what it leads to"
KATEX = "...; katex.org/docs/supported.html lists what there is"
QUOTES = '; a text with ": " in it, or one of [ { & * at its beginning, stands between quotes'
STALE = "docs/en/index.md has changed since this page was reviewed; update it and run"

LAST = "the last line"
MKDOCS = "MkDocs itself says the place, and what it expects there"

# What is broken in which file: how, or a piece of it and what it becomes (no piece: something is
# added); then what is told, of which file, and of the line where which piece stands (none: 1).
Broken = tuple[str, str | Callable[[Path], None] | None, str | None]
FAULTS: dict[str, tuple[Broken, tuple[str, str | None, str]]] = {
    # Pages
    "a page without its twin": (
        (OTHER_TWIN, None, None),
        (
            OTHER,
            "",
            "no translation docs/zh/other.md; write it and run scripts/translated other, or run",
        ),
    ),
    "a changed English page": (
        (PAGE, "# Small", "# Smaller"),
        (TWIN, "", f"{STALE} scripts/translated index"),
    ),
    "a page without a description": (
        (PAGE, "description: A small book.", "title: Small"),
        (PAGE, "", "has no description; write into its front matter what it is about, in a sent"),
    ),
    "a colon in a description": (
        (PAGE, "A small book.", "A book: small"),
        (PAGE, "description", f"no YAML: mapping values are not allowed here{QUOTES}"),
    ),
    "a bracket in a description": (
        (TWIN, "一本小书。", "[一本小书"),
        (TWIN, "description", f"no YAML: ...{QUOTES}"),
    ),
    "a front matter that is no mapping": (
        (PAGE, "description: A small book.", "A small book."),
        (PAGE, "A small book.", "the front matter is no mapping; write description: TEXT"),
    ),
    "a dead link": (
        (PAGE, "other.md#there", "none.md"),
        (PAGE, "none.md", f"... is not found among documentation files{LEADS}"),
    ),
    "a dead anchor": (
        (PAGE, "other.md#there", "other.md#none"),
        (PAGE, "other.md#none", f"... does not contain an anchor '#none'{LEADS}"),
    ),
    "a dead anchor of its own": (
        (TWIN, "other.md#there", "#none"),
        (TWIN, "#none", f"... there is no such anchor on this page{LEADS}"),
    ),
    "a page with a byte order mark": (
        (OTHER, with_bom, None),
        (OTHER, "", "begins with a byte order mark; save it as UTF-8 without BOM"),
    ),
    "a page that isn't in UTF-8": (
        (OTHER, with_latin, None),
        (OTHER, LAST, "is not in UTF-8; save it so, whatever your editor calls it"),
    ),
    "a page with the line ends of Windows": (
        (OTHER, with_crlf, None),
        (OTHER, "", "lines end with CRLF; save it with LF, and let Git keep that: git config"),
    ),
    "a link to a file that isn't there": (
        (LINKED, with_link, None),
        (LINKED, "", "is a link to nowhere.md, which isn't there; mend it or remove it"),
    ),
    "a page in no nav": (
        ("mkdocs.yml", "  - other.md\n", ""),
        (OTHER, "", "no nav leads here; list other.md in mkdocs.yml"),
    ),
    "a nav that leads nowhere": (
        ("mkdocs.zh.yml", "  - other.md\n", "  - other.md\n  - none.md\n"),
        ("mkdocs.zh.yml", "none.md", "the nav leads to none.md, which isn't there; correct the"),
    ),
    # What a page includes
    "a missing section": (
        (PAGE, "tiny.py:first", "tiny.py:none"),
        (PAGE, "tiny.py:none", "no section none in tiny.py; it has first"),
    ),
    "a missing file": (
        (PAGE, "examples/chapter/say.py", "examples/none.py"),
        (PAGE, "examples/none.py", "no file examples/none.py in snippets/ or .generated/; correct"),
    ),
    "a mark without its end": (
        (TINY, "# --8<-- [end:first]\n", ""),
        (TINY, "[start:first]", "section first has no end mark; put --8<-- [end:first] below it"),
    ),
    "a mark without its start": (
        (TINY, "# --8<-- [start:first]\n", ""),
        (TINY, "[end:first]", "end mark of first without its start; one of the two is too much"),
    ),
    "an unknown value": (
        (PAGE, "say: number", "say: none"),
        (
            PAGE,
            "say: none",
            "0 lines of outputs/examples/chapter/say.txt begin with 'none: '; "
            "exactly one is needed, and there are number",
        ),
    ),
    "an output that no page shows": (
        (ALONE, "", "print(1)\n"),
        (ALONE, "", "no page of docs/en shows its output; include outputs/examples/chapter/alone."),
    ),
    "a section that no page shows": (
        (TINY, "", SECOND),
        (
            TINY,
            "[start:second]",
            'section second is shown in no page of docs/en; show it once: --8<-- "tiny.py:second"',
        ),
    ),
    # Formulas and figures
    "a broken formula": (
        (PAGE, "$x^2$", r"$\frac{1}$"),
        (PAGE, "frac", f"KaTeX parse error: {KATEX}"),
    ),
    "a missing figure": (
        (PAGE, "chapter/line.svg", "chapter/none.svg"),
        (
            PAGE,
            "chapter/none.svg",
            "no figures/chapter/none.svg; scripts/figures/chapter.py draws it? "
            "Correct the name or write the function",
        ),
    ),
    "a figure without alternative text": (
        (TWIN, "一条上升的线。", ""),
        (TWIN, "line.svg", "figures/chapter/line.svg has no alternative text; say between [ and ]"),
    ),
    "a figure that no page shows": (
        (FIGURES, "", WAVE),
        (FIGURES, "", "no page of docs/en shows figures/chapter/wave.svg; show it there, or remo"),
    ),
    "a figure that fails": (
        (FIGURES, "double(1)", "nonesuch"),
        (FIGURES, "nonesuch", f"NameError: name 'nonesuch' is not defined{DRAWN}"),
    ),
    "a figure that is not returned": (
        (FIGURES, "    return fig\n", ""),
        (FIGURES, "def line", "ValueError: line returns no figure: it ends with return fig"),
    ),
    "a label in one language alone": (
        (FIGURES, '"位置"}', '"位置", "y": "值"}'),
        (FIGURES, "@figure", f"ValueError: labels differ: y is there in one language alone{DRAWN}"),
    ),
    "a label that a figure doesn't have": (
        (FIGURES, 'label["x"]', 'label["y"]'),
        (FIGURES, 'label["y"]', f"KeyError: 'y'{DRAWN}"),
    ),
    "a file of figures with a syntax error": (
        (FIGURES, "def line(label):", "def line(label:"),
        (FIGURES, "def line", "SyntaxError: '(' was never closed; correct it"),
    ),
    # Examples
    "an example that raises": (
        (SAY, "double(21)", "1 / 0"),
        (SAY, "1 / 0", f"ZeroDivisionError: division by zero{SAID}"),
    ),
    "an example with a syntax error": (
        (SAY, "double(21))", "double(21)"),
        (SAY, "print(", f"SyntaxError: '(' was never closed{SAID}"),
    ),
    "a snippet with a syntax error": (
        (TINY, "    return 2 * x", "    return 2 *"),
        (TINY, "return 2", f"SyntaxError: invalid syntax{SAID}"),
    ),
    "an example that prints nothing": (
        (SAY, 'print("number:", double(21))', ""),
        (SAY, "", "prints nothing; a page shows what it prints"),
    ),
    "an example that never ends": (
        (SAY, "from tiny", LOOP + "from tiny"),
        (SAY, "", f"takes over {SECONDS} s and was stopped; make it end sooner"),
    ),
    "an example that needs the network": (
        (SAY, "from tiny", FETCH + "from tiny"),
        (SAY, "urlopen('", f"urllib.error.URLError: ... Connection refused>{SAID}"),
    ),
    "an example that needs what isn't installed": (
        (SAY, "from tiny", "import nonesuch\nfrom tiny"),
        (SAY, "", f"ModuleNotFoundError: No module named 'nonesuch'{SAID}"),
    ),
    "an example that reads what isn't there": (
        (SAY, "from tiny", "open('none.json')\nfrom tiny"),
        (SAY, "", f"FileNotFoundError: ... 'none.json'{SAID}"),
    ),
    "an example that is killed": (
        (SAY, "from tiny", "import os\n\nos.kill(os.getpid(), 9)\nfrom tiny"),
        (SAY, "", "its process died (-9); is there memory enough?"),
    ),
    # Labs
    "a lab whose cell raises": (
        (LAB, "print(1 + 1)", "print(1 / 0)"),
        (LAB, "print(1 / 0)", f"cell 1: ZeroDivisionError: division by zero{DONE}"),
    ),
    "a lab with other code than its twin": (
        (LAB_TWIN, "print(1 + 1)", "print(1 + 2)"),
        (LAB_TWIN, "SITE", "this cell is not the twin's: in kind, id, tags or code; make both"),
    ),
    "a lab with outputs": (
        (LAB, with_output, None),
        (LAB, "", "holds outputs: clear them before you save it"),
    ),
    "a lab that is cut short": (
        (LAB, cut_short, None),
        (LAB, ' "nb', "is no whole notebook: ...; git restore it, or save it anew in Jupyter"),
    ),
    # Quizzes, the glossary, sources and claims
    "a quiz with a question too few": (
        (QUIZ, 4 * QUESTION, 3 * QUESTION),
        (QUIZ, "", "4 questions; a quiz has 5"),
    ),
    "a quiz without a right choice": (
        (QUIZ, 'right: true, en_why: "See [here]', 'en_why: "See [here]'),
        (QUIZ, "", "question 1 has 0 right choices; exactly one has 'right: true'"),
    ),
    "a quiz that is no YAML": (
        (QUIZ, QUESTION.replace("[there]", "[here]"), "- en: Is it: so?\n"),
        (QUIZ, "", f"no YAML: mapping values are not allowed here{QUOTES}"),
    ),
    "a dead anchor in a quiz": (
        (QUIZ, "[here](#there)", "[here](#none)"),
        (QUIZ, "#none", f"... there is no such anchor on this page{LEADS}"),
    ),
    "a broken formula in a quiz": (
        (QUIZ, "[here](#there)", r"$\\frac{1}$"),
        (QUIZ, "frac", f"KaTeX parse error: {KATEX}"),
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
        (CLAIMS, "def", "docs/en has no other.md#nowhere; correct @claim or the page"),
    ),
    "a test without a claim": (
        (CLAIMS, '@claim("other#there")', ""),
        (CLAIMS, "def", "test_it_is_so has 0 @claim decorators; give it one: @claim("),
    ),
    "a term of the glossary that leads nowhere": (
        (GLOSSARY, "#there", "#none"),
        (
            GLOSSARY,
            "#none",
            "token: docs/en/other.md has no anchor #none; correct where",
        ),
    ),
    "a term of the glossary without its Chinese": (
        (GLOSSARY, " zh: 词元,", ""),
        (GLOSSARY, "", "token has no zh; each has anchor, en, en_meaning, where, zh, zh_meaning"),
    ),
    "a glossary that is no YAML": (
        (GLOSSARY, "en: token, ", "en: token, ["),
        (GLOSSARY, "", f"no YAML: ...{QUOTES}"),
    ),
    # Settings, templates and locks
    "settings that are no YAML": (
        ("mkdocs.yml", "\nnav:\n", "\nnav: [\n"),
        ("mkdocs.yml", "- index.md", MKDOCS),
    ),
    "Chinese settings that are no YAML": (
        ("mkdocs.zh.yml", "\nnav:\n", "\nnav: [\n"),
        ("mkdocs.zh.yml", "- index.md", MKDOCS),
    ),
    "a template that can't be read": (
        (BASE, "", "{% if %}\n"),
        (BASE, "{% if %}", "Expected an expression, ...; correct the template, or git restore it"),
    ),
    "a lock that is gone": (
        ("package-lock.json", None, None),
        ("package-lock.json", None, "it isn't there; git restore it, or run scripts/install"),
    ),
    "a change that leads nowhere": (
        (FEED, "other.md#there", "other.md#none"),
        (FEED, "#none", "leads to #none, which docs/en/other.md doesn't have; correct page"),
    ),
}


def place(folder: Path, fault: str) -> str:
    """What is to be told, as a regular expression."""
    _, (file, piece, message) = FAULTS[fault]
    number = line(folder / file, piece) if piece and piece != LAST else 1
    if piece == LAST:
        number = (folder / file).read_bytes().count(b"\n")
    if message == MKDOCS:
        return rf'\n[^\n]*expected [^"]*"{re.escape(file)}", line {number}\b'
    where = file if piece is None else f"{file}:{number}"
    return re.escape(f"{where}: {message}").replace(r"\.\.\.", ".*")


def broken(whole: Path, folder: Path, fault: str) -> tuple[Outcome, str]:
    """Build a copy of the book with this fault, then without it; and what was to be told."""
    (file, how, new), _ = FAULTS[fault]
    shutil.copytree(whole, folder, symlinks=True)
    path, was, site = folder / file, tree(folder, "site", ".generated"), tree(folder, "site")
    if callable(how):
        how(path)
    elif how is None:
        path.unlink()
    elif how:
        change(path, how, new or "")
    else:
        with open(path, "a", encoding="utf-8") as opened:
            opened.write(new or "")
    told = place(folder, fault)
    first = build(folder)
    changed, left = unlike(site, tree(folder, "site")), halves(folder)
    path.unlink(missing_ok=True)
    if (whole / file).exists():
        shutil.copy2(whole / file, path)
    second = build(folder)
    differ = unlike(was, tree(folder, "site", ".generated"))
    shutil.rmtree(folder)
    return Outcome(first, changed, left, second, differ), told


@pytest.fixture(scope="module")
def outcomes(whole, request) -> Iterator[dict[str, Future[tuple[Outcome, str]]]]:
    """What comes of each fault, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        yield {
            fault: pool.submit(broken, whole, whole.parent / f"broken-{number}", fault)
            for number, fault in enumerate(chosen(request, FAULTS))
        }


@pytest.mark.parametrize("fault", FAULTS)
def test_a_strict_build_stops_and_can_be_mended(outcomes, record_property, fault):
    outcome, expected = outcomes[fault].result()
    outcome.check()
    found = re.search(expected, outcome.broken.told)
    assert found, f"nothing says {expected}:\n{outcome.broken.told}"
    record_property("told", told_line(outcome.broken.told, found.start()))


def test_the_whole_small_book_is_built_again_without_a_warning(whole):
    status, told = build(whole)
    assert (status, "WARNING" in told) == (0, False), told


def test_a_build_that_is_not_published_leads_to_nothing_that_publishing_makes(whole):
    home = (whole / "site/index.html").read_text(encoding="utf-8")
    assert "og:title" in home
    assert "og:image" not in home
