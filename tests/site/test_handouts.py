"""The poster and the worksheet of the page By hand: complete, correct, and nothing is cut off."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pikepdf
import pytest
from playwright.sync_api import Browser, Page

import by_hand
from bookbuild.generated.pencil_steps import SENTENCE
from bookbuild.pages.paths import LANGUAGES
from bookbuild.publish import handouts, worksheet
from built_pages import assert_no_errors
from pdf_files import fonts_without_file, page_texts

SMALLEST_TEXT = 6.5  # points
POINT = 25.4 / 72  # millimeters
MARGIN = 4  # millimeters that no printer reaches
LEGEND = ["3", "−2", "0"]  # weights that only explain the colors
NOT_DRAWN = ("scores", "sum", "mean", "centered", "deviation")  # steps that the poster leaves out


class Files(NamedTuple):
    """The handouts in one language."""

    language: str
    poster: Path
    worksheet: Path


@pytest.fixture(scope="module", params=LANGUAGES)
def files(request: pytest.FixtureRequest, site: Path) -> Files:
    folder = site / "zh" if request.param == "zh" else site
    names = handouts.POSTER, handouts.WORKSHEET
    if not (folder / names[0]).exists():
        pytest.fail(f"no {names[0]} in {folder}: run scripts/publish", pytrace=False)
    return Files(request.param, *(folder / name for name in names))


@pytest.fixture(scope="module")
def model() -> by_hand.ByHand:
    """The model after it has translated the sentence, with two decimals."""
    model = by_hand.load(decimals=2)
    model.translate(SENTENCE)
    return model


def test_the_poster_is_one_page_and_the_worksheet_two_with_two_of_solutions(files):
    for path, count, size in (
        (files.poster, 1, handouts.POSTER_SIZE),
        (files.worksheet, 4, (210, 297)),
    ):
        with pikepdf.open(path) as pdf:
            assert len(pdf.pages) == count
            for page in pdf.pages:
                _, _, *found = (float(side) * POINT for side in page.mediabox)
                assert found == pytest.approx(size, abs=0.5)
            assert not fonts_without_file(pdf)
            assert str(pdf.docinfo["/Title"])
            assert str(pdf.Root.Lang) == {"en": "en", "zh": "zh-CN"}[files.language]


class Tokens:
    """The words and numbers of a text, each of which can be taken once."""

    def __init__(self, text: str) -> None:
        self.all = text.replace("−", " −").split()  # a wide number may touch the one before
        self.is_taken = [False] * len(self.all)

    def take(self, expected: list[str]) -> bool:
        """Mark the first free place where these tokens follow each other."""
        length = len(expected)
        for start in range(len(self.all) - length + 1):
            place = slice(start, start + length)
            if self.all[place] == expected and not any(self.is_taken[place]):
                self.is_taken[place] = [True] * length
                return True
        return False


def decimals(values: list[float]) -> list[str]:
    """Numbers as on the poster; hidden ones aren't there."""
    shown = (f"{value:.2f}".replace("-0.00", "0.00") for value in values if value > -math.inf)
    return [each.replace("-", "−") for each in shown]


def signed(values: list[int]) -> list[str]:
    return [str(value).replace("-", "−") for value in values]


def test_the_poster_has_every_weight_of_the_model_once(files, model):
    tokens = Tokens(page_texts(files.poster)[0])
    weights = model.weights
    rows = []
    for name, matrix in weights.items():
        if name.endswith("norm1.weight") or not isinstance(matrix[0], list):
            rows.append(matrix) if "norm" in name else None
        elif "embedding" in name or name == "output.weight":
            rows += map(list, zip(*matrix, strict=True))  # a column for each word
        else:
            biases = weights[name.replace(".weight", ".bias")]
            rows += [[*row, bias] for row, bias in zip(matrix, biases, strict=True)]
    numbers = [number for row in rows for number in row]
    assert len(numbers) == handouts.count_weights()
    # the longest first, so that none is taken for a part of another
    for row in sorted(rows, key=len, reverse=True):
        assert tokens.take(signed(row)), row
    assert tokens.take(LEGEND)
    assert f" {len(numbers)} " in page_texts(files.poster)[0]


def test_the_poster_has_the_vectors_and_the_attention_of_the_sentence(files, model):
    tokens = Tokens(page_texts(files.poster)[0])
    scores = {table.name: table.values for table in model.tables if ".scores." in table.name}
    count = 0
    for table in model.tables:
        result = table.name.rsplit(".", 2 if table.name[-2:] in (".0", ".1") else 1)[-1]
        hidden = scores.get(table.name.replace(".weights.", ".scores."))
        if ".scores." in table.name or (result in NOT_DRAWN and "norm" in table.name):
            continue
        for i, row in enumerate(table.values):
            if hidden:
                row = [x for x, score in zip(row, hidden[i], strict=True) if score > -math.inf]
            count += 1
            assert tokens.take(decimals(row)), f"{table.name}, row {i}"
    assert count > 150
    text = page_texts(files.poster)[0]
    assert " ".join(SENTENCE) in text
    assert " ".join(model.translate(SENTENCE)) in text


def given(value: float) -> str:
    """A number as on the worksheet."""
    if value == -math.inf:
        return "−∞"
    return f"{value:.2f}".replace("-0.00", "0.00").removesuffix(".00").replace("-", "−")


def sheet_rows(language: str, model: by_hand.ByHand) -> Iterator[tuple[list[str], list[str]]]:
    """The tokens of each row of the worksheet, without and with the solutions."""
    tables = {table.name: table for table in model.tables}
    for part in worksheet.parts(language):
        for sheet_table in part.tables:
            steps = [tables.pop(step.name) for step in sheet_table.steps]
            for i, word in enumerate(steps[0].rows):
                exercise, solution = [word], [word]
                for step in steps:
                    values = [*map(given, step.values[i])]
                    solution += values
                    if step.name not in worksheet.TASKS or sheet_table.kinds[i] != "task":
                        exercise += values
                yield exercise, solution
    assert not tables  # every table of the translation is on the worksheet


def test_the_worksheet_has_the_tables_with_blanks_and_the_solutions_fill_them(files, model):
    texts = page_texts(files.worksheet)
    blank, solved = Tokens(" ".join(texts[:2])), Tokens(" ".join(texts[2:]))
    rows = sorted(sheet_rows(files.language, model), key=lambda row: -len(row[1]))
    number_of_blanks = 0
    for exercise, solution in rows:
        assert solved.take(solution), solution
        number_of_blanks += len(solution) - len(exercise)
    for exercise, _ in sorted(rows, key=lambda row: -len(row[0])):
        assert blank.take(exercise), exercise
    assert 60 <= number_of_blanks <= 120
    added = ["·", "solutions" if files.language == "en" else "答案"]
    added.append(model.translate(SENTENCE)[worksheet.READER_ROWS["decoder"]])
    assert all(solved.all.count(word) == blank.all.count(word) + 1 for word in added)
    assert len(solved.all) == len(blank.all) + number_of_blanks + len(added)


# In the browser

TEXTS_SCRIPT = """() => [...document.querySelectorAll("svg text")].map(text => {
  const {x, y, width, height} = text.getBBox();
  const size = Math.min(...[text, ...text.children].map(
    each => parseFloat(getComputedStyle(each).fontSize)));
  const isNumber = /^(value|weight)/.test(text.className.baseVal);
  const room = isNumber ? text.previousElementSibling.getBBox().width : null;
  return {text: text.textContent, x, y, width, height, size, room};
})"""
CUT_CELLS_SCRIPT = """() => [...document.querySelectorAll(".sheet")].flatMap(sheet => {
  const limit = sheet.getBoundingClientRect();
  const all = [...sheet.querySelectorAll("td, th, h2, caption, p")];
  return all.filter(each => each.textContent.trim()).filter(each => {
    const box = each.getBoundingClientRect();
    const range = document.createRange();
    range.selectNodeContents(each);
    const text = range.getBoundingClientRect();
    const isCell = each.tagName === "TD";
    return text.right > limit.right + 0.5 || text.left < limit.left - 0.5
      || isCell && (text.right > box.right + 0.5 || text.left < box.left - 0.5);
  }).map(each => each.textContent);
})"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    yield page
    page.close()


def overlap(a: dict, b: dict) -> bool:
    """Whether two texts touch; line boxes are higher than letters."""
    room = {"x": 0.05, "y": 0.3 * min(a["height"], b["height"])}
    sides = ("x", "width"), ("y", "height")
    return all(
        one[start] + one[size] > other[start] + room[start]
        for one, other in ((a, b), (b, a))
        for start, size in sides
    )


def test_no_text_of_the_poster_is_small_wider_than_its_cell_or_over_another(page, language):
    poster, _ = handouts.make_handouts(language, "A Book", "https://book.example/by-hand/")
    page.set_content(poster.html)
    texts = page.evaluate(TEXTS_SCRIPT)
    assert len(texts) > 1200
    errors = []
    for text in texts:
        if text["size"] < SMALLEST_TEXT * POINT - 0.01:
            errors.append(f"{text['text']!r} has {text['size'] / POINT:.1f} points")
        if text["room"] and text["width"] > text["room"] + 0.3:
            errors.append(f"{text['text']!r} is wider than its cell")
        right, bottom = text["x"] + text["width"], text["y"] + text["height"]
        width, height = handouts.POSTER_SIZE
        if min(text["x"], text["y"], width - right, height - bottom) < MARGIN - 1.5:
            errors.append(f"{text['text']!r} is at the edge")
    texts.sort(key=lambda text: text["y"])
    for i, text in enumerate(texts):
        for other in texts[i + 1 :]:
            if other["y"] > text["y"] + text["height"]:
                break
            if overlap(text, other):
                errors.append(f"{text['text']!r} is over {other['text']!r}")
    assert_no_errors(errors)


def test_no_text_of_the_worksheet_is_cut_off(page, language):
    _, sheet = handouts.make_handouts(language, "A Book", "https://book.example/by-hand/")
    page.set_viewport_size({"width": 733, "height": 1000})  # as wide as the text of A4
    page.set_content(sheet.html)
    assert_no_errors(page.evaluate(CUT_CELLS_SCRIPT))
