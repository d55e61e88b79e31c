"""The labs run in Jupyter as they stand; every task can be solved, and says what is wrong."""

import ast
import gzip
import json
import math
import multiprocessing
import re
import subprocess
import sys
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import html_tree
from bookbuild.check.translation import notebook_errors
from bookbuild.localize.render import without_words
from bookbuild.pages.labs import notebooks
from bookbuild.pages.page import SourcePage
from bookbuild.pages.paths import LANGUAGES
from bookbuild.run.jobs import dependencies
from built_pages import ROOT, assert_no_errors, lab_outputs, page_code_blocks
from page_parts import find_parts

LIMIT = 16_700  # bytes of one page's HTML without the list of all pages, compressed
PAGES = re.compile(
    rb'<nav class="md-nav md-nav--primary.*?(?=<div class="md-sidebar md-sidebar--sec)', re.S
)
NOT_YET = {"en": "Not yet: ", "zh": "还不对："}
RIGHT = {"en": "Right.", "zh": "正确。"}
NAMES = sorted(path.stem for path in (ROOT / "docs/en/labs").glob("*.ipynb"))
every_lab = pytest.mark.parametrize("name", NAMES)
every_language = pytest.mark.parametrize("language", LANGUAGES)
english_or_slow = pytest.mark.parametrize(
    "language", ["en", pytest.param("zh", marks=pytest.mark.slow)]
)


def path_of(name: str, language: str = "en") -> Path:
    return ROOT / "docs" / language / "labs" / f"{name}.ipynb"


pytestmark = pytest.mark.usefixtures("one_thread")


def test_the_four_are_there():
    assert NAMES == ["attention-by-hand", "look-inside", "text-to-vectors", "train-a-translator"]


# The notebooks


def test_they_hold_no_outputs_and_their_code_is_the_same_in_both_languages():
    assert_no_errors(notebook_errors())


@every_language
@every_lab
def test_each_is_a_valid_notebook(name, language):
    import nbformat  # here, since it takes 3 s and each process of pytest collects all tests

    nbformat.validate(nbformat.read(path_of(name, language), as_version=4))


@every_lab
def test_their_code_is_formatted_as_the_snippets_are(name):
    ruff = Path(sys.executable).with_name("ruff")
    for command in (["format", "--check"], ["check"]):
        call = [ruff, *command, "--line-length", "80", path_of(name)]
        done = subprocess.run(call, capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stdout


def test_all_name_the_address_of_the_site_as_mkdocs_yml_does():
    default = re.search(r'site_url: .*"(https://.*)"', (ROOT / "mkdocs.yml").read_text())
    for language in LANGUAGES:
        for name in NAMES:
            assert notebooks.site_url(path_of(name, language)) == default[1]
            cells = json.dumps(json.loads(path_of(name, language).read_text())["cells"])
            for url in re.findall(r"\]\((.*?)\)", cells):
                assert url.startswith(default[1] + ("zh/" if language == "zh" else ""))


@every_lab
def test_the_first_cell_fetches_all_that_the_others_import_and_nothing_else(name):
    first = notebooks.code_cells(path_of(name))[0].source
    named = set(re.findall(r'"([\w.]+\.(?:py|safetensors))"', first))
    needed = {path.name for path in dependencies(path_of(name))}
    assert named - {".py"} == needed - {f"{name}.ipynb"}


# The built pages


@pytest.fixture(scope="module")
def pages(built_pages):
    """The labs' pages by language and name."""
    return {
        (page.source.language, page.source.path.stem): page
        for page in built_pages
        if page.source.is_notebook
    }


@every_language
@every_lab
def test_a_page_shows_every_cell_and_below_it_what_it_has_shown(pages, site, name, language):
    shown = lab_outputs(name, language)
    page = pages[language, name]
    tables = page.article.find("div", "lab-output")
    downloaded = notebooks.code_cells(site / page.url / f"../{name}.ipynb")
    found = [block for block in page_code_blocks(page) if block.title]
    for cell, outputs in zip(downloaded, shown, strict=True):
        block = found.pop(0)
        assert block.title.startswith(("Cell", "单元格"))
        assert block.code == cell.source
        for kind, what in outputs:
            if kind == "html":
                assert tables.pop(0).text().strip() == html_tree.parse(what).text()
            else:
                block = found.pop(0)
                assert (block.title, block.code) == ("Output", what)
    assert not found + tables


@every_language
@every_lab
def test_a_page_is_light_and_takes_nothing_but_the_sites_style(pages, name, language):
    page = pages[language, name]
    html, lists = PAGES.subn(b"", page.path.read_bytes())
    assert lists == 1
    assert len(gzip.compress(html)) < LIMIT
    assert not page.article.find("style") + page.article.find("script") + page.article.find("img")


@every_language
@every_lab
def test_the_links_lead_to_the_notebook_here_and_in_colab(pages, site, name, language):
    page = pages[language, name]
    links = [link.attributes["href"] for link in page.article.find("a", "md-button")]
    assert (page.path.parent / links[0]).resolve() == (
        (site / page.url).parent / f"{name}.ipynb"
    ).resolve()
    source = page.tree.find("a", "md-source")[0].attributes["href"]
    there = source.replace("https://github.com/", "https://colab.research.google.com/github/")
    expected = [f"{there}/blob/main/docs/{language}/labs/{name}.ipynb"]
    assert links[1:] == (expected if there != source else [])


@every_language
@every_lab
def test_the_download_fetches_from_the_site_that_it_is_on(pages, site, site_url, name, language):
    download = site / pages[language, name].url / f"../{name}.ipynb"
    assert notebooks.site_url(download) == site_url
    here = path_of(name, language)
    assert download.read_text("utf-8") == here.read_text("utf-8").replace(
        notebooks.site_url(here), site_url
    )


# Run by a reader


def reader_notebook(name: str, language: str, port: int) -> Any:
    """The notebook as it would be had from the served site, without its slow cells."""
    import nbformat

    notebook = nbformat.read(path_of(name, language), as_version=4)
    notebook.cells = [
        cell
        for cell in notebook.cells
        if cell.cell_type == "code" and "slow" not in cell.metadata.get("tags", [])
    ]
    first = notebook.cells[0]
    first.source = notebooks.SITE_ASSIGNMENT.sub(f'SITE = "http://127.0.0.1:{port}/"', first.source)
    return notebook


def shown_by(cell: Any) -> list[tuple[str, str]]:
    """What a cell has shown in Jupyter, as lab_outputs has it.

    The kernel sends what is printed in one or several pieces, depending on time.
    """
    found = []
    for kind, outputs in groupby(cell.outputs, key=lambda output: output.output_type):
        if kind == "stream":
            pieces = [*outputs]
            assert {piece.name for piece in pieces} == {"stdout"}, pieces
            found.append(("text", "".join(piece.text for piece in pieces).rstrip()))
            continue
        for output in outputs:
            html = output.data.get("text/html")
            found.append(("html", html) if html else ("text", output.data["text/plain"]))
    return found


@english_or_slow
@every_lab
def test_in_an_empty_folder_jupyter_shows_what_the_page_shows(
    name, language, site, site_server, tmp_path
):
    from nbclient import NotebookClient

    notebook = reader_notebook(name, language, site_server.server_port)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    cells = zip(notebooks.code_cells(path_of(name)), lab_outputs(name, language), strict=True)
    expected = [outputs for cell, outputs in cells if "slow" not in cell.tags]
    assert [shown_by(cell) for cell in notebook.cells] == expected
    fetched = {path.name for path in tmp_path.iterdir()} - {"__pycache__"}
    assert fetched == {path.name for path in dependencies(path_of(name))} - {f"{name}.ipynb"}
    downloads = site / ("zh" if language == "zh" else "") / "downloads"
    for file in tmp_path.glob("*.py"):
        assert file.read_bytes() == (downloads / file.name).read_bytes()


@every_lab
def test_the_first_cell_fetches_nothing_that_is_there_already(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    first = notebooks.code_cells(path_of(name))[0].source
    exec(first, {"__name__": "__main__"})  # its address leads nowhere
    assert not [*tmp_path.iterdir()]


# The tasks


def answers(name: str, language: str = "en") -> list[str]:
    """The code of each folded answer, in order."""
    text = SourcePage(language, f"labs/{name}.md").text
    folded = re.findall(r"^\?\?\? success.*\n((?:    .*\n|\n)+)", text, re.M)
    fences = [re.search(r"    ```python\n((?:.*\n)*?)    ```", fold)[1] for fold in folded]
    return [re.sub("^    ", "", fence, flags=re.M) for fence in fences]


def say_in_fork(cells: list[notebooks.Cell], namespace: dict) -> str:
    """What the last of the cells prints, run in a fork of this process that then ends."""
    fork = multiprocessing.get_context("fork")
    reader, writer = fork.Pipe(duplex=False)

    def run_cells() -> None:
        for cell in cells:
            with redirect_stdout(StringIO()) as printed:
                exec(cell.source, namespace)
        writer.send(printed.getvalue().rstrip())

    process = fork.Process(target=run_cells)
    process.start()
    writer.close()
    try:
        return reader.recv()
    except EOFError:
        raise ChildProcessError(f"cell {cells[-1].id}: an error (see above)") from None
    finally:
        process.join()


@cache
def check_messages(name: str, language: str) -> dict[tuple[int, str | None], str]:
    """What each task's check says of the task unsolved (None), its solutions and its mistakes.

    The cells run once. At a task, each solution and the check run in a fork.
    """
    cells = [
        cell for cell in notebooks.code_cells(path_of(name, language)) if "slow" not in cell.tags
    ]
    solutions: dict[int, list[str | None]] = {
        number: [None, answer] for number, answer in enumerate(answers(name, language), 1)
    }
    for lab, number, mistake, _ in MISTAKES:
        if lab == name:
            solutions[number].append(mistake)
    for lab, number, solution in OTHER_SOLUTIONS:
        if lab == name:
            solutions[number].append(solution)
    messages, namespace, number = {}, {"__name__": "__main__"}, 0
    for place, cell in enumerate(cells):
        if "task" in cell.tags:
            number += 1
            check = next(i for i in range(place, len(cells)) if cells[i].id.startswith("check-"))
            for solution in solutions[number]:
                done = cell._replace(source=solution or cell.source)
                tried = [done, *cells[place + 1 : check + 1]]
                messages[number, solution] = say_in_fork(tried, namespace)
        with redirect_stdout(StringIO()):
            exec(cell.source, namespace)
    return messages


def tasks() -> list[tuple[str, int]]:
    return [
        (name, number)
        for name in NAMES
        for number in range(
            1, 1 + sum("task" in cell.tags for cell in notebooks.read_cells(path_of(name)))
        )
    ]


every_task = pytest.mark.parametrize(("name", "number"), tasks())


@english_or_slow
@every_task
def test_an_unsolved_task_runs_and_says_what_is_missing(name, language, number):
    assert check_messages(name, language)[number, None].startswith(NOT_YET[language])


@english_or_slow
@every_task
def test_the_folded_answer_solves_the_task(name, language, number):
    answer = answers(name, language)[number - 1]
    assert check_messages(name, language)[number, answer] == RIGHT[language]


@every_lab
def test_every_task_has_its_answer_the_same_in_both_languages(name):
    codes = [
        [ast.dump(without_words(ast.parse(answer))) for answer in answers(name, language)]
        for language in LANGUAGES
    ]
    assert codes[0] == codes[1]
    count = sum("task" in cell.tags for cell in notebooks.read_cells(path_of(name)))
    text = SourcePage("en", f"labs/{name}.md").text
    assert len(answers(name)) == count == len(find_parts("exercise", text)) // 2


@every_language
@every_lab
def test_the_answers_are_formatted_too(name, language):
    ruff = Path(sys.executable).with_name("ruff")
    for answer in answers(name, language):
        call = [ruff, "format", "--line-length", "80", "--stdin-filename", "answer.py", "-"]
        done = subprocess.run(call, input=answer, capture_output=True, text=True)
        assert done.stdout == answer


OTHER_SOLUTIONS = [
    (
        "text-to-vectors",
        2,
        "def one_hot(ids, size):\n    return torch.nn.functional.one_hot(ids, size).float()",
    ),
    (
        "attention-by-hand",
        2,
        "def masked_weights(s, m):\n"
        "    return s.masked_fill(~m, -math.inf).softmax(dim=-1).nan_to_num()",
    ),
    (
        "attention-by-hand",
        3,
        "def split(x, nhead):\n    return torch.stack(x.chunk(nhead, dim=-1), dim=1)",
    ),
    (
        "look-inside",
        3,
        "def leave_out(model):\n"
        "    for layer in model.encoder.layers:\n"
        "        for p in layer.feed_forward.parameters():\n"
        "            p.requires_grad_(False).zero_()",
    ),
]


@pytest.mark.parametrize(("name", "number", "done"), OTHER_SOLUTIONS)
def test_other_solutions_pass(name, number, done):
    for language in LANGUAGES:
        assert check_messages(name, language)[number, done] == RIGHT[language]


MISTAKES = [
    (
        "text-to-vectors",
        1,
        "def encode(tokens):\n    return [vocabulary.index(token) for token in tokens]",
        "Is a word unknown?",
    ),
    (
        "text-to-vectors",
        1,
        "def encode(tokens):\n    return [words.index(t) if t in words else 3 for t in tokens]",
        "should give [4, 5, 6, 7, 8], not [0, 1, 2, 3, 4]",
    ),
    (
        "text-to-vectors",
        2,
        "def one_hot(ids, size):\n    return torch.zeros(size, len(ids))",
        "the shape should be (6, 9), not (9, 6)",
    ),
    (
        "text-to-vectors",
        2,
        "def one_hot(ids, size):\n    return torch.ones(len(ids), size)",
        "id 4 should have zeros elsewhere",
    ),
    (
        "text-to-vectors",
        3,
        "def position_row(p, d):\n"
        "    a = [p / 10000 ** (i / d) for i in range(d)]\n"
        "    return [math.cos(x) if i % 2 else math.sin(x) for i, x in enumerate(a)]",
        "position_row(1, 2), column 1, is 0.999950; it should be 0.540302, a cosine with i = 0",
    ),
    (
        "attention-by-hand",
        1,
        "def softmax(s):\n    p = [math.exp(x) for x in s]\n    return [x / sum(p) for x in p]",
        "softmax([1000, 0]) overflows. What if all were smaller?",
    ),
    (
        "attention-by-hand",
        1,
        "def softmax(s):\n"
        "    p = [math.exp(x - 999) for x in s]\n"
        "    return [x / sum(p) for x in p]",
        "all the exponentials are zero",
    ),
    (
        "attention-by-hand",
        1,
        "def softmax(s):\n    return [x / sum(s) for x in s]",
        "softmax([2, 0]) gives [1.0, 0.0], not [0.880797, 0.119203]",
    ),
    (
        "attention-by-hand",
        2,
        "def masked_weights(s, m):\n    return s.softmax(dim=-1) * m",
        "Is the mask applied after the softmax",
    ),
    (
        "attention-by-hand",
        2,
        "def masked_weights(s, m):\n    return s.masked_fill(~m, -math.inf).softmax(dim=-1)",
        "a row without any key becomes NaN",
    ),
    (
        "attention-by-hand",
        2,
        "def masked_weights(s, m):\n    return s.masked_fill(m, -1e9).softmax(dim=-1)",
        "row 0 gives 0.269 to the forbidden key 1",
    ),
    (
        "attention-by-hand",
        3,
        "def split(x, nhead):\n    return x.view(x.size(0), nhead, x.size(1), -1)",
        "at position 1 of sentence 0 should have [8, 9, 10, 11], not [4, 5, 6, 7]",
    ),
    (
        "attention-by-hand",
        3,
        "def split(x, nhead):\n    return x.unflatten(-1, (nhead, -1))",
        "the shape should be (2, 2, 3, 4), not (2, 3, 2, 4)",
    ),
    (
        "train-a-translator",
        1,
        "def inputs_and_targets(t):\n    return ['<bos>', *t], t",
        "the two have different lengths",
    ),
    (
        "train-a-translator",
        1,
        "def inputs_and_targets(t):\n    return ['<bos>', *t], ['<bos>', *t]",
        "it never learns to stop",
    ),
    (
        "train-a-translator",
        1,
        "def inputs_and_targets(t):\n    return ['<bos>', *t, '<eos>'], [*t, '<eos>', '<eos>']",
        "<eos> is given, and nothing follows it",
    ),
    (
        "train-a-translator",
        2,
        "def smoothed(r, n, e):\n    return [1 - e if i == r else e / (n - 1) for i in range(n)]",
        "Does the right one share in the rest, too?",
    ),
    (
        "train-a-translator",
        2,
        "def smoothed(r, n, e):\n    return [1 - e if i == r else e for i in range(n)]",
        "not 4 numbers that add up to 1",
    ),
    (
        "train-a-translator",
        3,
        "def rate(s, p, w, n):\n    return p * min(s / w, (n - s) / (n - w))",
        "rate(800, 0.006, 100, 800) is on the way down and should be 0.000009, not 0.000000",
    ),
    (
        "train-a-translator",
        3,
        "def rate(s, p, w, n):\n    return p * min((s - 1) / w, 1)",
        "rate(1, 0.006, 100, 800) is on the way up",
    ),
    (
        "look-inside",
        1,
        "def sharpness(w):\n    return w.max(dim=-2).values.mean()",
        "should give",
    ),
    (
        "look-inside",
        2,
        "def switch_off(a, h):\n"
        "    n = a.output.in_features // a.nhead\n"
        "    a.output.weight.data[h * n : (h + 1) * n] = 0.0",
        "head 0 is to go; head 1 changes too",
    ),
    (
        "look-inside",
        2,
        "def switch_off(a, h):\n    a.output.weight.data[:, h] = 0.0",
        "head 0 still has an effect",
    ),
    (
        "look-inside",
        3,
        "def leave_out(model):\n"
        "    for layer in model.encoder.layers:\n"
        "        for p in layer.feed_forward.parameters():\n"
        "            p.data.zero_()",
        "it adds nothing now, but training would bring it back",
    ),
    (
        "look-inside",
        3,
        "def leave_out(model):\n"
        "    for layer in [*model.encoder.layers, *model.decoder.layers]:\n"
        "        layer.feed_forward.register_forward_hook(lambda m, x, y: 0 * y)",
        "that of decoder layer 0 is silent too",
    ),
    # Right at one size, or for one kind of input, only
    (
        "text-to-vectors",
        1,
        "def encode(tokens):\n"
        "    return [vocabulary.index(t) if t in vocabulary else 3 for t in dict.fromkeys(tokens)]",
        "should give [8, 7, 6, 4, 6, 6], not [8, 7, 6, 4]",
    ),
    (
        "text-to-vectors",
        1,
        "def encode(tokens):\n"
        "    return [next((i for i, v in enumerate(vocabulary) if t in v), 3) for t in tokens]",
        "'We works wo' should give [3, 3, 3], not [3, 3, 7]",
    ),
    (
        "text-to-vectors",
        1,
        "def encode(tokens):\n    return [words.index(t) + 4 if t in words else 3 for t in tokens]",
        "'<bos> we <eos>' should give [1, 6, 2], not [3, 6, 3]",
    ),
    (
        "text-to-vectors",
        2,
        "def one_hot(ids, size):\n    return torch.eye(len(vocabulary))[ids]",
        "the shape should be (2, 12), not (2, 9)",
    ),
    (
        "text-to-vectors",
        2,
        "def one_hot(ids, size):\n    return torch.nn.functional.one_hot(ids, size)",
        "use torch.float32, not torch.int64",
    ),
    (
        "text-to-vectors",
        3,
        "def position_row(p, d):\n    return [math.nan] * d",
        "column 0, is nan; it should be 0.000000",
    ),
    (
        "attention-by-hand",
        1,
        "def softmax(s):\n"
        "    p = [math.exp(x - s[0]) for x in s]\n"
        "    return [x / sum(p) for x in p]",
        "softmax([-1000, -1000, 1000, 999]) overflows",
    ),
    (
        "attention-by-hand",
        1,
        "def softmax(s):\n    p = torch.tensor(s).exp()\n    return (p / p.sum()).tolist()",
        "softmax([1000, 0]) gives [nan, 0.0]: the sum is not 1",
    ),
    (
        "attention-by-hand",
        2,
        "def masked_weights(s, m):\n    return s.masked_fill(~m, -100).softmax(dim=-1) * m",
        "Are the forbidden scores far below all others?",
    ),
    (
        "attention-by-hand",
        3,
        "def split(x, nhead):\n    return x.unflatten(-1, (-1, nhead)).permute(0, 3, 1, 2)",
        "[0, 1, 2, 3], not [0, 2, 4, 6]. Position 0 has the numbers 0 to 7",
    ),
    (
        "train-a-translator",
        1,
        "def inputs_and_targets(t):\n    return ['<bos>', *t], [*t[1:], '<eos>', '<eos>']",
        "the next character is wanted",
    ),
    (
        "train-a-translator",
        3,
        "def rate(s, p, w, n):\n    return p * min(s / 100, (n + 1 - s) / (n + 1 - 100))",
        "rate(1, 0.03, 40, 90) is on the way up",
    ),
    (
        "train-a-translator",
        3,
        "def rate(s, p, w, n):\n    return p * min(s / w, (801 - s) / (801 - w))",
        "rate(90, 0.03, 40, 90) is on the way down",
    ),
    (
        "look-inside",
        1,
        "def sharpness(w):\n    return w.max(dim=-1).values.unique().mean()",
        "should give 0.675, not 0.733",
    ),
    ("look-inside", 1, "def sharpness(w):\n    return math.nan", "should give 1.000, not nan"),
    (
        "look-inside",
        2,
        "def switch_off(a, h):\n"
        "    n = a.output.in_features // a.nhead\n"
        "    a.output.weight.data[:, h * n : (h + 1) * n] = 0.0\n"
        "    a.output.bias.data.zero_()",
        "head 0 is off, but more has changed",
    ),
    (
        "look-inside",
        3,
        "def leave_out(model):\n"
        "    for layer in model.encoder.layers:\n"
        "        for module in layer.modules():\n"
        "            module.register_forward_hook(\n"
        "                lambda m, x, y: 0 * y if torch.is_tensor(y) else None\n"
        "            )",
        "they add nothing, but more is missing",
    ),
    (
        "look-inside",
        3,
        "def leave_out(model):\n"
        "    for layer in model.encoder.layers:\n"
        "        layer.feed_forward.register_forward_hook(\n"
        "            lambda m, x, y: 0 * y if m.training else y\n"
        "        )",
        "that of encoder layer 0 still adds something",
    ),
]


@pytest.mark.parametrize(("name", "number", "done", "message"), MISTAKES)
def test_a_check_says_what_is_wrong(name, number, done, message):
    english, chinese = (check_messages(name, language)[number, done] for language in LANGUAGES)
    assert english.startswith(NOT_YET["en"])
    assert message in english
    assert chinese.startswith(NOT_YET["zh"])
    numbers = [sorted(re.findall(r"\d+", text)) for text in (english, chinese)]
    assert numbers[0] == numbers[1]


def test_every_task_has_a_mistake_that_is_reported():
    assert {(name, number) for name, number, _, _ in MISTAKES} == {*tasks()}


# What their text says of what they show


@pytest.fixture(scope="module")
def printed():
    """All the text that a lab has printed."""

    def call(name: str) -> str:
        return "\n".join(
            what for cell in lab_outputs(name) for kind, what in cell if kind == "text"
        )

    return call


def percentage(text: str, label: str) -> float:
    return float(re.search(rf"^{re.escape(label)}.*?([\d.]+)%", text, re.M)[1])


def test_every_vector_comes_out_times_the_root_of_six(printed):
    assert re.search(
        r"divided by row 6: tensor\(\[(2\.45, ){5}2\.45\]\)\n√6: 2\.45", printed("text-to-vectors")
    )


def test_positions_make_all_vectors_different_but_not_their_sums(printed):
    text = printed("text-to-vectors")
    assert re.search("different vectors: 4\nequal sums: True\nequal sums after ReLU: False", text)


def test_inner_products_of_positions_depend_on_their_distance_alone(printed):
    rows = re.findall(r"from position \d+, steps 0 to 4: (.*)", printed("text-to-vectors"))
    assert len(rows) == 3
    assert len({*rows}) == 1


def test_attention_by_hand_agrees_with_the_book_and_with_torch(printed):
    messages = re.findall(r"^equal to .*: (\w+)$", printed("attention-by-hand"), re.M)
    assert messages == ["True"] * 4
    assert "[[0.881, 0.119]" in printed("attention-by-hand")


def test_half_a_minute_of_training_translates_nearly_all_and_nothing_longer(printed):
    text = printed("train-a-translator")
    assert percentage(text, "without a fault:") > 95
    assert percentage(text, "always one answer:") == 0
    losses = re.findall(r"^ +(?:\d+|–)  (\d\.\d{3})  +\S+%", text, re.M)
    guess, *curve, lowest = map(float, losses)
    assert guess == pytest.approx(math.log(18), abs=5e-4)
    assert guess > curve[0] > curve[-1] > lowest
    assert re.search(r"^ 120  \S+ +[0-9]\.\d%$", text, re.M), "for a hundred steps hardly any"
    assert "11 digits: 0 of 100 right (guessing: 1 in 90,000,000,000)" in text
    assert "12 digits: 0 of 100 right (guessing: 1 in 900,000,000,000)" in text


def test_the_trained_translator_knows_the_running_example(printed):
    text = printed("look-inside")
    assert "why do we work ? -> 我们为什么工作？" in text
    assert "three hundred and forty two thousand and five -> 三十四万二千零五" in text
    assert percentage(text, "all heads:") > 95
    assert percentage(text, "always one answer:") == 0


def test_other_heads_can_take_the_place_of_one(printed):
    lines = re.findall(r"^((?: *[\d.]+%){5}) \S+$", printed("look-inside"), re.M)
    losses = [[100 - float(each) for each in re.findall(r"[\d.]+", line)] for line in lines]
    assert len(losses) == 6
    assert sum(max(one_off) < 5 for *one_off, _ in losses) >= 5
    assert sum(all_off > max(20, 5 * sum(one_off)) for *one_off, all_off in losses) >= 3


def test_without_the_mask_the_loss_is_lowest_and_nothing_is_right(printed):
    text = printed("look-inside")
    levels = ["guessing", "best possible"]
    labels = ["nothing left out", "no positions", "no mask"]
    losses = {
        each: float(re.search(rf"{each}: loss ([\d.]+)", text)[1]) for each in labels + levels
    }
    match = {each: percentage(text, f"{each}: loss") for each in labels + levels}
    assert sorted(losses, key=losses.get)[:2] == ["best possible", "no mask"]
    assert losses["no mask"] < losses["best possible"] + 0.02
    assert max(losses, key=losses.get) == "guessing"
    assert match["no mask"] == match["guessing"] == 0
    assert match["no positions"] < 20 < 60 < match["nothing left out"]
