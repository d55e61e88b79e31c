"""The labs run in Jupyter as they stand; every task can be solved, and says what is wrong."""

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
from bookbuild.pages.labs import notebooks
from bookbuild.pages.page import SourcePage
from bookbuild.pages.paths import LANGUAGES
from bookbuild.run.jobs import dependencies
from built_pages import ROOT, lab_outputs, page_code_blocks

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


# The notebooks


def test_their_code_is_formatted_as_the_snippets_are():
    ruff = Path(sys.executable).with_name("ruff")
    for command in (["format", "--check"], ["check"]):
        call = [ruff, *command, "--line-length", "80", "docs/en/labs"]
        done = subprocess.run(call, capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stdout


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
    here = path_of(name, language)
    assert download.read_text("utf-8") == here.read_text("utf-8").replace(
        notebooks.site_url(here), site_url
    )


# Run by a reader


def reader_notebook(name: str, language: str, port: int) -> Any:
    """The notebook as it would be had from the served site, without its slow cells."""
    import nbformat  # here, since it takes 3 s and each process of pytest collects all tests

    notebook = nbformat.read(path_of(name, language), as_version=4)
    nbformat.validate(notebook)
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
    message = reader.recv()
    process.join()
    return message


@cache
def check_messages(name: str, language: str) -> dict[tuple[int, str | None], str]:
    """What each task's check says of the task unsolved (None), its answer and others.

    The cells run once. At a task, each solution and the check run in a fork.
    """
    cells = [
        cell for cell in notebooks.code_cells(path_of(name, language)) if "slow" not in cell.tags
    ]
    solutions = {
        number: [None, answer, *SOLUTIONS[name, number]]
        for number, answer in enumerate(answers(name, language), 1)
    }
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


# By task: solutions of readers, each with what the check says of it
SOLUTIONS = {
    ("text-to-vectors", 1): {
        "encode = lambda t: [vocabulary.index(x) for x in t]": "Is a word unknown?",
        "encode = lambda t: [words.index(x) if x in words else 3 for x in t]": "not [0, 1, 2,",
    },
    ("text-to-vectors", 2): {
        "one_hot = lambda i, n: torch.zeros(n, len(i))": "the shape should be (6, 9), not (9, 6)",
        "one_hot = lambda i, n: torch.ones(len(i), n)": "id 4 should have zeros elsewhere",
        "one_hot = lambda i, n: torch.nn.functional.one_hot(i, n)": "use torch.float32, not",
        "one_hot = lambda i, n: torch.nn.functional.one_hot(i, n).float()": "Right.",
    },
    ("text-to-vectors", 3): {
        "position_row = lambda p, d: [math.sin(p)] * d": "column 1, is 0.000000; it should be",
        "position_row = lambda p, d: [math.nan] * d": "column 0, is nan; it should be 0.000000",
    },
    ("attention-by-hand", 1): {
        "softmax = lambda s: [math.exp(x) / sum(map(math.exp, s)) for x in s]": "overflows",
        "softmax = lambda s: [x / sum(s) for x in s]": "gives [1.0, 0.0], not [0.880797,",
    },
    ("attention-by-hand", 2): {
        "masked_weights = lambda s, m: s.softmax(-1) * m": "Is the mask applied after the softmax",
        "masked_weights = lambda s, m: s.masked_fill(~m, -math.inf).softmax(-1)": "becomes NaN",
        "masked_weights = lambda s, m: (s - 9e9 * ~m).softmax(-1) * m": "Right.",
        "masked_weights = lambda s, m: s.masked_fill(~m, -99).softmax(-1) * m": "far below all",
    },
    ("attention-by-hand", 3): {
        "split = lambda x, n: x.view(len(x), n, x.size(1), -1)": "[8, 9, 10, 11], not [4, 5, 6, 7]",
        "split = lambda x, n: x.unflatten(-1, (n, -1))": "the shape should be (2, 2, 3, 4), not",
        "split = lambda x, n: torch.stack(x.chunk(n, dim=-1), dim=1)": "Right.",
    },
    ("train-a-translator", 1): {
        "inputs_and_targets = lambda t: (['<bos>', *t], t)": "the two have different lengths",
        "inputs_and_targets = lambda t: (['<bos>', *t],) * 2": "it never learns to stop",
    },
    ("train-a-translator", 2): {
        "smoothed = lambda r, n, e: [1 - e if i == r else e / (n - 1) for i in range(n)]": "share",
        "smoothed = lambda r, n, e: [1 - e if i == r else e for i in range(n)]": "add up to 1",
    },
    ("train-a-translator", 3): {
        "rate = lambda s, p, w, n: p * min(s / w, (n - s) / (n - w))": "is on the way down",
    },
    ("look-inside", 1): {
        "sharpness = lambda w: w.max(dim=-2).values.mean()": "should give",
        "sharpness = lambda w: w.amax(dim=-1).unique().mean()": "should give 0.675, not 0.733",
    },
    ("look-inside", 2): {
        "switch_off = lambda a, h: a.output.weight.data[:, h].zero_()": "head 0 still has an",
        "switch_off = lambda a, h: a.output.weight.data.zero_()": "head 1 changes too",
    },
    ("look-inside", 3): {
        "leave_out = lambda model: None": "that of encoder layer 0 still adds something",
        "leave_out = lambda m: [p.data.zero_() for p in m.encoder.parameters()]": "more is missing",
    },
}


@pytest.mark.parametrize(("name", "number"), tasks())
def test_a_check_accepts_the_folded_answer_and_says_what_is_wrong_with_others(name, number):
    folded = [answers(name, language)[number - 1] for language in LANGUAGES]
    said = [check_messages(name, language) for language in LANGUAGES]
    assert all(
        messages[number, answer] == RIGHT[language]
        for language, messages, answer in zip(LANGUAGES, said, folded, strict=True)
    )
    for solution, message in {None: "", **SOLUTIONS[name, number]}.items():
        texts = [messages[number, solution] for messages in said]
        begin = RIGHT if message == RIGHT["en"] else NOT_YET
        assert all(
            text.startswith(begin[each]) for each, text in zip(LANGUAGES, texts, strict=True)
        )
        assert message in texts[0]
        english, chinese = (sorted(re.findall(r"\d+", text)) for text in texts)
        assert solution is None or english == chinese


# What their text says of what they show


def printed(name: str) -> str:
    """All the text that a lab has printed."""
    return "\n".join(what for cell in lab_outputs(name) for kind, what in cell if kind == "text")


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("text-to-vectors", r"divided by row 6: tensor\(\[(2\.45, ){5}2\.45\]\)\n√6: 2\.45"),
        (
            "text-to-vectors",
            "different vectors: 4\nequal sums: True\nequal sums after ReLU: False",
        ),
        ("text-to-vectors", r"steps 0 to 4: (.*)(\n.*steps 0 to 4: \1){2}"),
        ("attention-by-hand", r"\[\[0\.881, 0\.119\]"),
        ("attention-by-hand", r"(^equal to .*: True$(?s:.*?)){4}"),
    ],
)
def test_what_the_text_says_is_printed(name, pattern):
    assert re.search(pattern, printed(name), re.M)


def percentage(text: str, label: str) -> float:
    return float(re.search(rf"^{re.escape(label)}.*?([\d.]+)%", text, re.M)[1])


def test_half_a_minute_of_training_translates_nearly_all_and_nothing_longer():
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


def test_the_trained_translator_knows_the_running_example():
    text = printed("look-inside")
    assert "why do we work ? -> 我们为什么工作？" in text
    assert "three hundred and forty two thousand and five -> 三十四万二千零五" in text
    assert percentage(text, "all heads:") > 95
    assert percentage(text, "always one answer:") == 0


def test_other_heads_can_take_the_place_of_one():
    lines = re.findall(r"^((?: *[\d.]+%){5}) \S+$", printed("look-inside"), re.M)
    losses = [[100 - float(each) for each in re.findall(r"[\d.]+", line)] for line in lines]
    assert len(losses) == 6
    assert sum(max(one_off) < 5 for *one_off, _ in losses) >= 5
    assert sum(all_off > max(20, 5 * sum(one_off)) for *one_off, all_off in losses) >= 3


def test_without_the_mask_the_loss_is_lowest_and_nothing_is_right():
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
