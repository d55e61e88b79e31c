"""Notebooks are read as pages, and run as Jupyter does."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import sample_book
from bookbuild.check.pending import mark_translated
from bookbuild.check.translation import notebook_errors, translation_errors
from bookbuild.pages import paths
from bookbuild.pages.files import line_number
from bookbuild.pages.labs import execution, notebooks
from bookbuild.pages.page import SourcePage
from bookbuild.run import generate, jobs
from bookbuild.run.jobs import list_jobs
from built_pages import lab_outputs
from fault_injection import PROCESS_TIMEOUT, run_command, wait_until
from fault_injection import build as run_build
from sample_book import change, module_command
from sample_book import notebook_cell as cell
from sample_book import write_notebook as write

CODE = """\
from tiny import double

SITE = "https://transformer.example/"
print("number:", double(21))
"""
TEXT = """\
## Part

**Word**, [there](https://transformer.example/zh/other/#there), `[a](https://transformer.example/)`.

<details><summary>Answer 1</summary>

```python
## no heading
x = 1
```

</details>
"""


@pytest.fixture
def lab(sample_folder):
    """A lab of the small book, in English; its translation is the same."""
    return sample_book.add_lab(sample_folder, CODE, cell("markdown", "p", TEXT))


# As Markdown


def markdown(path: Path, shown=(), language="en") -> str:
    return "".join(f"{text}\n" for text, _ in notebooks.markdown_page(path, language, [*shown]))


def test_headings_folds_and_links_become_the_books(tmp_path):
    text = markdown(
        write(tmp_path / "x.ipynb", cell("code", "c", CODE), cell("markdown", "p", TEXT))
    )
    assert "\n## Part { #p }\n" in text
    assert "[there](../other.md#there)" in text
    assert (
        '\n??? success "Answer 1"\n\n    ```python\n    ## no heading\n    x = 1\n    ```\n' in text
    )
    assert "details" not in text


def test_links_lead_to_the_pages_and_labs_of_the_book():
    line = "[a](https://e.org/labs/look-inside/) [b](https://e.org/x/#y) [c](https://f.org/z/)"
    cell = notebooks.Cell(1, "markdown", "id", [], line)
    text = notebooks.markdown_source(cell, "https://e.org/")
    assert text == "[a](../labs/look-inside.md) [b](../x.md#y) [c](https://f.org/z/)"


def test_outputs_stand_below_their_cells(tmp_path):
    cells = cell("code", "one", "1"), cell("code", "two", "2", tags=["task"])
    path = write(tmp_path / "x.ipynb", *cells)
    text = markdown(path, ['\n```text title=""\n1\n```\n', "\n<div>\n<p>2</p>\n</div>\n"])
    assert '```python title="Cell 1"\n1\n```\n\n```text title="Output"\n1\n```\n' in text
    assert 'title="Cell 2: your turn"' in text
    assert text.endswith("```\n\n<div>\n<p>2</p>\n</div>\n")
    assert 'title="单元格 2：轮到你了"' in markdown(path, [], "zh")


def test_every_line_knows_where_in_the_notebook_it_is_from(lab):
    page = SourcePage("en", "labs/lab.md")
    for piece, there in (("Word", "**Word**"), ("double(21)", "double(21)"), ("# Lab", "# Lab")):
        problem = str(page.error(page.text.index(piece), "wrong"))
        line = int(problem.split(":")[1])
        assert problem.startswith("docs/en/labs/lab.ipynb:")
        assert there in lab.read_text(encoding="utf-8").splitlines()[line - 1]


@pytest.mark.parametrize(
    ("repository", "colab"),
    [
        ("https://github.com/me/book", "github/me/book/blob/main/docs/zh/labs/x.ipynb"),
        ("https://github.com/me/book/", "github/me/book/blob/main/docs/zh/labs/x.ipynb"),
        ("https://git.example/me/book", None),
        ("", None),
    ],
)
def test_the_page_links_to_its_notebook_and_to_colab_if_that_can_open_it(repository, colab):
    text = notebooks.with_notebook_links(
        "---\na: b\n---\n\n# Title\n\nText\n", "x.ipynb", "zh", repository
    )
    assert "# Title\n\n[下载笔记本](x.ipynb)" in text
    assert text.endswith("\n\nText\n")
    if colab:
        assert f"(https://colab.research.google.com/{colab})" in text
    else:
        assert "colab" not in text


# In a book


@pytest.fixture(scope="module")
def plugin() -> None:
    """The modules that run a lab, imported once: the process of each lab is a fork of this one."""
    import mkdocs_jupyter.plugin  # noqa: F401


@pytest.fixture
def generated(plugin, sample_folder, monkeypatch, capfd):
    """Calls generate; returns its exit status and what it printed."""

    def call() -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["generate", "labs"])
        monkeypatch.setattr(sys, "path", [*sys.path])
        status = generate.main()
        out, err = capfd.readouterr()
        return status, out + err

    return call


def job() -> jobs.Job:
    (notebook,) = (job for job in list_jobs() if job.is_notebook)
    return notebook


def fresh() -> bool:
    return job().is_fresh()


SHOWS = """\
class A:
    def _repr_html_(self):
        return "<b>x\\n  y</b>"

print("\\r1", end="", flush=True)
print("\\r2", end="", flush=True)
print("\\n3 < 4")
A()
"""


def test_a_cell_shows_what_it_prints_and_the_value_of_its_last_line(lab, generated):
    replace_code(lab, CODE, "x = 1\nprint(x)\nx + 1", "x", "x = 2", "print(); print()", SHOWS)
    assert generated()[0] == 0
    assert lab_outputs("lab") == [
        [("text", "number: 42")],
        [("text", "1"), ("text", "2")],
        [("text", "1")],
        [],
        [],
        [("text", "2\n3 < 4"), ("html", "<b>xy</b>")],
    ]


def replace_code(lab: Path, *sources: str) -> None:
    write(lab, *(cell("code", f"c{i}", source) for i, source in enumerate(sources)))


def test_it_is_stale_when_its_code_or_a_snippet_changes_but_not_when_its_text_does(lab, generated):
    assert generated()[0] == 0
    assert fresh()
    change(lab, "**Word**", "**Words**")
    assert fresh()
    change(lab, "double(21)", "double(22)")
    assert not fresh()
    change(lab, "double(22)", "double(21)")
    assert fresh()
    change(paths.SNIPPETS / "tiny.py", "2 * x", "3 * x")
    assert not fresh()
    change(paths.SNIPPETS / "tiny.py", "3 * x", "2 * x")
    change(paths.ROOT / "mkdocs.yml", "allow_errors: false", "allow_errors: true")
    assert not fresh()
    change(paths.ROOT / "mkdocs.yml", "allow_errors: true", "allow_errors: false")
    model = paths.SNIPPETS / "tiny.safetensors"
    model.write_bytes(b"\xff1")
    change(lab, "number:", model.name)
    assert generated()[0] == 0
    assert fresh()
    assert (paths.DOWNLOADS / model.name).read_bytes() == b"\xff1"
    model.write_bytes(b"\xff2")
    assert not fresh()


@pytest.mark.slow
def test_a_cache_that_is_damaged_or_gone_is_made_again(lab, generated):
    assert generated()[0] == 0
    cached = paths.GENERATED / "outputs/labs/lab.json"
    content = cached.read_bytes()
    cached.write_bytes(content[:10])
    assert not fresh()
    cached.unlink()
    assert not fresh()
    assert generated()[0] == 0
    assert fresh()
    assert cached.read_bytes() == content


KILL = "__import__('os').kill(__import__('os').getpid(), 9)"
BROKEN = {
    "a cell raises": ("double(21)", "1 / 0", "ZeroDivisionError: division by zero; correct it"),
    "a snippet raises": ("double(21)", "double(None)", "TypeError: unsupported operand"),
    "a syntax error": ("double(21)", "double(21", "SyntaxError: "),
    "the kernel is killed": ("double(21)", KILL, "Kernel died; check that memory is sufficient"),
    "a cell never ends": (
        "double(21)",
        "[1 for i in iter(int, 1)]",
        "A cell timed out while it was being executed, after 2 seconds.; make it faster",
    ),
    "a memory address": ("double(21)", "object()", "'0x7"),
    "a time": ("double(21)", "'CPU 2.5 s'", "'CPU 2.5 s' differs from run to run; don't show it"),
    "stderr": ("double(21)", "1, file=__import__('sys').stderr", '\'title="stderr"'),
}


USUAL = ("a cell raises", "a syntax error")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in USUAL else pytest.mark.slow) for name in BROKEN]
)
def test_a_cell_that_fails_stops_with_notebook_line_cell_and_reason(
    lab, generated, monkeypatch, name
):
    old, new, message = BROKEN[name]
    monkeypatch.setattr(execution, "CELL_TIMEOUT", 2)
    change(lab, old, new)
    status, messages = generated()
    text = lab.read_text()
    raises = "raises" in name or "syntax" in name
    line = line_number(text, text.index(new if raises else "from tiny"))
    assert status == 1
    assert f"docs/en/labs/lab.ipynb:{line}: cell 1: {message}" in messages
    assert "Traceback" not in messages
    assert not fresh()
    assert not [*(paths.GENERATED / "outputs/labs").glob("*")]


def test_a_kernel_that_is_not_installed_is_reported(sample_folder, lab, generated):
    change(sample_folder / "mkdocs.yml", "kernel_name: python3", "kernel_name: nonesuch")
    status, messages = generated()
    assert status == 1
    line = line_number(lab.read_text(), lab.read_text().index("from tiny"))
    where = f"docs/en/labs/lab.ipynb:{line}: cell 1: No such kernel named nonesuch"
    assert f"{where}; remove .venv and run scripts/install" in messages


def test_a_template_that_mkdocs_jupyter_does_not_use_is_reported(
    sample_folder, lab, generated, monkeypatch
):
    settings = sample_folder / "scripts/bookbuild/pages/labs/jupyter"
    next(settings.rglob("*.j2")).unlink()
    monkeypatch.setattr(execution, "SETTINGS", settings)
    status, messages = generated()
    assert status == 1
    assert "labs/jupyter:1: mkdocs-jupyter has not used our template" in messages


@pytest.mark.slow
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_or_killed_run_leaves_no_kernel_and_can_be_repeated(sample_folder, lab, by):
    waits = f"open({str(sample_folder / 'pid')!r}, 'w').write(str(__import__('os').getpid()))"
    change(lab, "print(", f'{waits}\\n",\n    "while True: pass\\n",\n    "print(')
    command = module_command(sample_folder, "run.generate")
    process = subprocess.Popen([*command, "labs"], start_new_session=True, cwd=sample_folder)
    wait_until(lambda: (sample_folder / "pid").exists() and (sample_folder / "pid").read_text())
    kernel = Path("/proc", (sample_folder / "pid").read_text())
    os.killpg(process.pid, by)
    assert process.wait(PROCESS_TIMEOUT) != 0
    wait_until(lambda: not kernel.exists())
    assert not [*(paths.GENERATED / "outputs/labs").glob("*")]
    change(lab, "while True: pass", "pass")
    assert run_command(sample_folder, *command, "labs").status == 0


def test_the_stamp_of_a_translation_is_kept_in_the_notebook(lab):
    translated = SourcePage("zh", "labs/lab.md")
    assert translated.meta["translated"] == SourcePage("en", "labs/lab.md").digest()
    assert not [*translation_errors()]
    change(lab, "**Word**", "**Words**")
    (problem,) = translation_errors()
    assert "docs/en/labs/lab.ipynb has changed since this page was reviewed" in str(problem)
    assert not [*notebook_errors()]


def test_a_lab_without_its_translation_is_reported(lab):
    (paths.DOCS / "zh/labs/lab.ipynb").unlink()
    (fault,) = translation_errors()
    assert str(fault).startswith("docs/en/labs/lab.ipynb:1: no translation docs/zh/labs/lab.ipynb;")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"outputs": []', '"outputs": [{}]', "contains outputs"),
        ('"execution_count": null', '"execution_count": 1', "contains outputs"),
        ('"nbformat": 4', '"nbformat":  4', "not formatted as by Jupyter"),
        ("SITE =", "SITE_ =", "no code cell sets the site's address"),
        ("**Word**", "## More", "the heading below the cell's first line gets no anchor"),
        ("double(21)", "double(22)", "this cell differs from its translation"),
        ('"id": "p"', '"id": "q"', "this cell differs from its translation"),
        ('"id": "p"', '"id": "c"', "duplicate cell id c"),
    ],
)
def test_what_is_wrong_with_a_notebook_is_reported(lab, old, new, message):
    path = paths.DOCS / "zh/labs/lab.ipynb"
    change(path, old, new)
    messages = [*map(str, notebook_errors())]
    assert any(each.startswith("docs/zh/labs/lab.ipynb:") and message in each for each in messages)


def test_a_cell_that_one_language_lacks_is_reported(lab):
    notebook = json.loads(lab.read_text(encoding="utf-8"))
    notebook["cells"].pop()
    lab.write_text(notebooks.canonical_json(notebook), encoding="utf-8")
    (problem,) = notebook_errors()
    assert "this cell differs from its translation" in str(problem)


# In a strict build


@pytest.fixture
def build(sample_folder, lab, mkdocs):
    """What scripts/build does with the small book and its lab."""
    return lambda: run_build(sample_folder, mkdocs)


def test_a_lab_is_built_like_any_page(sample_folder, lab, build):
    status, messages = build()
    assert status == 0, messages
    for folder, root in (("site", "../.."), ("site/zh", "../..")):
        page = (sample_folder / folder / "labs/lab/index.html").read_text(encoding="utf-8")
        assert "number: 42" in page
        assert f'href="{root}/other/#there"' in page
        download = (sample_folder / folder / "labs/lab.ipynb").read_text(encoding="utf-8")
        assert "https://transformer.example/" in download
    index = json.loads(
        (sample_folder / "site/search/search_index.json").read_text(encoding="utf-8")
    )
    found = {entry["location"]: entry["title"] for entry in index["docs"]}
    assert found["labs/lab/"] == "Lab"
    assert found["labs/lab/#p"] == "Part"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "other/#there",
            "none/#there",
            "Doc file 'labs/lab.md' contains a link '../none.md#there'",
        ),
        ("double(21)", "1 / 0", "cell 1: ZeroDivisionError: division by zero"),
        ("**Word**", "**Word** $\\\\frac{1}$", "KaTeX parse error"),
        ("**Word**", "{{ chapter/say: none }}", "0 lines of outputs/examples/chapter/say.txt"),
    ],
)
def test_an_error_in_a_lab_stops_a_strict_build_with_its_line(lab, build, old, new, message):
    change(lab, old, new)
    mark_translated("labs/lab")
    translated = paths.DOCS / "zh/labs/lab.ipynb"
    if "double" in old:
        change(translated, old, new)
    line = line_number(lab.read_text(), lab.read_text().index(new))
    status, messages = build()
    assert status == 1, messages
    assert f"docs/en/labs/lab.ipynb:{line}: {message}" in messages
