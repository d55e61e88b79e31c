"""Notebooks are read as pages, and run as Jupyter does."""

import sys

import pytest

import sample_book
from bookbuild.check.mark_translated import mark_translated
from bookbuild.check.translation import notebook_errors
from bookbuild.pages import paths
from bookbuild.pages.labs import execution, notebooks
from bookbuild.run import generate
from bookbuild.run.jobs import list_jobs
from built_pages import lab_outputs
from fault_injection import build
from sample_book import change, line_of
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


def test_headings_folds_and_links_become_the_books(tmp_path):
    path = write(tmp_path / "x.ipynb", cell("code", "c", CODE), cell("markdown", "p", TEXT))
    text = "".join(f"{line}\n" for line, _ in notebooks.markdown_page(path, "en", []))
    assert "\n## Part { #p }\n" in text
    assert "[there](../other.md#there)" in text
    answer = "    ```python\n    ## no heading\n    x = 1\n    ```\n"
    assert f'\n??? success "Answer 1"\n\n{answer}' in text
    assert "details" not in text


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


def fresh() -> bool:
    (notebook,) = (job for job in list_jobs() if job.is_notebook)
    return notebook.is_fresh()


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
    sources = CODE, "x = 1\nprint(x)\nx + 1", "x", "x = 2", "print(); print()", SHOWS
    write(lab, *(cell("code", f"c{i}", source) for i, source in enumerate(sources)))
    assert generated()[0] == 0
    assert lab_outputs("lab") == [
        [("text", "number: 42")],
        [("text", "1"), ("text", "2")],
        [("text", "1")],
        [],
        [],
        [("text", "2\n3 < 4"), ("html", "<b>xy</b>")],
    ]


def test_it_is_stale_when_its_code_or_a_snippet_changes_but_not_when_its_text_does(lab, generated):
    model = paths.SNIPPETS / "tiny.safetensors"
    model.write_bytes(b"\xff1")
    change(lab, "number:", model.name)
    assert generated()[0] == 0
    assert fresh()
    change(lab, "**Word**", "**Words**")
    assert fresh()
    changes = [
        (lab, "double(21)", "double(22)"),
        (paths.SNIPPETS / "tiny.py", "2 * x", "3 * x"),
        (paths.ROOT / "mkdocs.yml", "allow_errors: false", "allow_errors: true"),
    ]
    for file, old, new in changes:
        change(file, old, new)
        assert not fresh()
        change(file, new, old)
        assert fresh()
    model.write_bytes(b"\xff2")
    assert not fresh()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("[1 for i in iter(int, 1)]", "A cell timed out while it was being executed, after 2 sec"),
        ("'CPU 2.5 s'", "'CPU 2.5 s' differs from run to run; don't show it"),
    ],
)
def test_a_cell_that_fails_stops_with_notebook_line_cell_and_reason(
    lab, generated, monkeypatch, code, message
):
    monkeypatch.setattr(execution, "CELL_TIMEOUT", 2)
    change(lab, "double(21)", code)
    status, messages = generated()
    assert status == 1
    where = f"docs/en/labs/lab.ipynb:{line_of(lab, 'from tiny')}"
    assert f"{where}: cell 1: {message}" in messages
    assert "Traceback" not in messages
    assert not fresh()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"nbformat": 4', '"nbformat":  4', "not formatted as by Jupyter"),
        ("SITE =", "SITE_ =", "no code cell sets the site's address"),
        ("**Word**", "## More", "the heading below the cell's first line gets no anchor"),
        ('"id": "p"', '"id": "c"', "duplicate cell id c"),
    ],
)
def test_what_is_wrong_with_a_notebook_is_reported(lab, old, new, message):
    path = paths.DOCS / "zh/labs/lab.ipynb"
    change(path, old, new)
    messages = [*map(str, notebook_errors())]
    assert any(each.startswith("docs/zh/labs/lab.ipynb:") and message in each for each in messages)


def test_an_error_in_a_lab_stops_a_strict_build_with_its_line(sample_folder, lab):
    change(lab, "other/#there", "none/#there")
    mark_translated("labs/lab")
    status, messages = build(sample_folder)
    assert status == 1, messages
    where = f"docs/en/labs/lab.ipynb:{line_of(lab, 'none/#there')}"
    assert f"{where}: Doc file 'labs/lab.md' contains a link '../none.md" in messages
