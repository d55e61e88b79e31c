"""Notebooks are read as pages, and run as Jupyter does."""

import json
import sys
from pathlib import Path

import pytest
import torch

from bookbuild.check.review import mark_translated
from bookbuild.check.translation import notebook_errors, translation_errors
from bookbuild.pages import notebooks, paths
from bookbuild.pages.files import line_number
from bookbuild.pages.page import SourcePage, list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.run import generate, jobs
from bookbuild.run.jobs import list_jobs
from bookbuild.run.notebooks import run_notebook
from fault_injection import build as run_build
from sample_book import change

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


def cell(kind: str, id: str, source: str, **metadata) -> dict:
    made = {"cell_type": kind, "id": id, "metadata": metadata, "source": source.splitlines(True)}
    return made if kind == "markdown" else made | {"execution_count": None, "outputs": []}


def write(path: Path, *cells: dict) -> Path:
    about = {"book": {"description": "A lab."}}
    notebook = {"cells": [*cells], "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    path.parent.mkdir(exist_ok=True)
    path.write_text(notebooks.canonical_json(notebook), encoding="utf-8")
    return path


@pytest.fixture
def notebook(tmp_path):
    """Writes a notebook of code cells."""

    def make(*sources: str) -> Path:
        cells = (cell("code", f"c{i}", source) for i, source in enumerate(sources))
        return write(tmp_path / "x.ipynb", *cells)

    return make


@pytest.fixture
def lab(sample_folder):
    """A lab of the small book, in English; its translation is the same."""
    cells = cell("markdown", "top", "# Lab\n"), cell("code", "c", CODE), cell("markdown", "p", TEXT)
    for language in LANGUAGES:
        write(sample_folder / "docs" / language / "labs" / "lab.ipynb", *cells)
    mark_translated("labs/lab")
    return sample_folder / "docs/en/labs/lab.ipynb"


# Running


def test_a_cell_shows_what_it_prints_and_the_value_of_its_last_line(notebook):
    path = notebook("x = 1\nprint(x)\nx + 1", "x", "x = 2", "print(); print()", "None")
    assert run_notebook(path) == [[("text", "1"), ("text", "2")], [("text", "1")], [], [], []]


def test_a_value_that_can_be_shown_as_html_is(notebook):
    shows = "class A:\n    def _repr_html_(self):\n        return '<b>x</b>'\n\nA()"
    assert run_notebook(notebook(shows)) == [[("html", "<b>x</b>")]]


def test_of_a_progress_line_only_its_last_state_is_shown(notebook):
    assert run_notebook(
        notebook("print('\\r1', end='')\nprint('\\r2', end='')\nprint('\\n3')")
    ) == [[("text", "2\n3")]]


@pytest.mark.parametrize(
    ("source", "kind", "line"),
    [("x = 1\n1 / 0\n", ZeroDivisionError, 2), ("\n1 / 0", ZeroDivisionError, 2)],
)
def test_an_error_has_the_line_of_the_notebook_file(notebook, source, kind, line):
    path = notebook("y = 1", source)
    with pytest.raises(kind) as error:
        run_notebook(path)
    number = error.traceback[-1].lineno + 1
    assert json.loads(path.read_text().splitlines()[number - 1].strip(",")).startswith("1 / 0")
    assert notebooks.cell_number(path, number) == 2


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


def test_links_between_labs_stay_in_their_folder():
    line = "[a](https://e.org/labs/look-inside/) [b](https://e.org/labs/x/#y) [c](https://f.org/z/)"
    messages = notebooks.with_relative_links(line, "https://e.org/")
    assert messages == "[a](look-inside.md) [b](x.md#y) [c](https://f.org/z/)"


def test_outputs_stand_below_their_cells(tmp_path):
    cells = cell("code", "one", "1"), cell("code", "two", "2", tags=["task"])
    path = write(tmp_path / "x.ipynb", *cells)
    text = markdown(path, [[("text", "1")], [("html", "<p>\n  2</p>")]])
    assert '```python title="Cell 1"\n1\n```\n\n```text title="Output"\n1\n```\n' in text
    assert 'title="Cell 2: your turn"' in text
    assert "<p>2</p>\n</div>" in text
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


@pytest.fixture
def run(sample_folder, monkeypatch, capfd):
    """Calls generate; returns its exit status and what it printed."""

    def call() -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["generate", "labs"])
        monkeypatch.setattr(sys, "path", [*sys.path])
        status = generate.main()
        out, err = capfd.readouterr()
        return status, out + err

    threads = torch.get_num_threads()
    yield call
    torch.set_num_threads(threads)


def fresh() -> bool:
    return all(job.is_fresh() for job in list_jobs() if job.is_notebook)


def test_it_runs_once_and_its_page_has_the_outputs_in_both_languages(lab, run):
    assert run()[0] == 0
    for language, output in (("en", "Output"), ("zh", "输出")):
        page = SourcePage(language, "labs/lab.md")
        assert page in list_pages(language)
        assert f'```text title="{output}"\nnumber: 42\n```' in page.text
    assert fresh()


def test_it_is_stale_when_its_code_or_a_snippet_changes_but_not_when_its_text_does(lab, run):
    run()
    change(lab, "**Word**", "**Words**")
    assert fresh()
    change(lab, "double(21)", "double(22)")
    assert not fresh()
    change(lab, "double(22)", "double(21)")
    assert fresh()
    change(paths.SNIPPETS / "tiny.py", "2 * x", "3 * x")
    assert not fresh()


def test_it_is_stale_when_a_trained_model_that_it_names_changes(lab, run):
    model = paths.SNIPPETS / "tiny.safetensors"
    model.write_bytes(b"\xff1")
    change(lab, "number:", "tiny.safetensors")
    run()
    assert fresh()
    assert (paths.DOWNLOADS / model.name).read_bytes() == b"\xff1"
    model.write_bytes(b"\xff2")
    assert not fresh()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("double(21)", "1 / 0", "cell 1: ZeroDivisionError: division by zero"),
        ("double(21)", "double(None)", "cell 1: TypeError: unsupported operand"),
        ("double(21)", "double(21", "cell 1: SyntaxError: '(' was never closed"),
    ],
)
def test_a_cell_that_fails_stops_with_notebook_line_cell_and_reason(lab, run, old, new, message):
    change(lab, old, new)
    status, messages = run()
    line = line_number(lab.read_text(), lab.read_text().index(new))
    assert status == 1
    assert f"docs/en/labs/lab.ipynb:{line}: {message}" in messages
    assert not fresh()


def test_a_lab_that_loops_is_stopped(lab, run, monkeypatch):
    monkeypatch.setattr(jobs, "LONG_TIMEOUT", 1)
    change(lab, "print(", "while True: (")
    status, messages = run()
    assert status == 1
    assert "docs/en/labs/lab.ipynb:1: did not end within 1 s" in messages


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
        ("**Word**", "## More", "the cell has two headings"),
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
    for name in ("mkdocs.yml", "mkdocs.zh.yml"):
        change(sample_folder / name, "  - other.md\n", "  - other.md\n  - labs/lab.md\n")
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
