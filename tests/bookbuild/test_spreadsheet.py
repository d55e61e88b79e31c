"""The spreadsheets pencil.xlsx and pencil.zh.xlsx compute what by_hand.py computes.

A claim compares by_hand.py with PyTorch.
"""

import copy
import io
import json
import math
import random
import zipfile
from pathlib import Path
from typing import Any

import formulas
import openpyxl
import pytest
from openpyxl.formula import Tokenizer
from openpyxl.utils import get_column_letter

from bookbuild.generated.pencil_steps import SENTENCE
from bookbuild.generated.spreadsheet import TARGET_ROWS, Spreadsheet
from bookbuild.generated.spreadsheet_formulas import MINUS_INFINITY, Area
from bookbuild.generated.spreadsheet_style import TEXTS
from bookbuild.pages.paths import LANGUAGES
from by_hand import PENCIL, ByHand

ABOUT = json.loads(PENCIL.read_text(encoding="utf-8"))
SENTENCES = [source for source, _ in ABOUT["sentences"]]
QUICK = {" ".join(SENTENCE), min(SENTENCES, key=len)}  # a sentence takes 2 s
TOLERANCE = 1e-9
FUNCTIONS = {"SUMPRODUCT", "SUM", "EXP", "SQRT", "SIN", "COS", "MAX", "INDEX", "MATCH", "IF"}
OPERATORS = {*"+-*/=", "<>"}
# The library compares strings with `is`.
pytestmark = pytest.mark.filterwarnings("ignore:.is.*with .*literal:SyntaxWarning")

Cell = tuple[str, int, int]  # sheet, row, column


class Calculator:
    """A spreadsheet that the library formulas calculates."""

    def __init__(self, language: str, folder: Path) -> None:
        self.sheet = Spreadsheet(language)
        self.content = self.sheet.content()
        path = folder / "pencil.xlsx"
        path.write_bytes(self.content)
        self.model: Any = formulas.ExcelModel().loads(str(path)).finish()

    def calculate(self, words: list[str] = SENTENCE, changed: dict[str, Any] | None = None) -> None:
        """Type these words, and change these weights."""
        typed = [*words, *[""] * (len(SENTENCE) - len(words))]
        inputs = {name_of(self.sheet.typed_word(i)): word for i, word in enumerate(typed)}
        for name, values in (changed or {}).items():
            place = self.sheet.formulas.weights[name]
            for i, row in enumerate(matrix_of(values, place.width)):
                for j, value in enumerate(row):
                    inputs[name_of(place.cell(i, j))] = value
        self.solution = self.model.calculate(inputs=inputs)

    def value(self, area: Area) -> Any:
        return self.solution[name_of(area)].value[0, 0]

    def table(self, name: str) -> list[list[float]]:
        place = self.sheet.formulas.tables[name]
        height = len(self.sheet.tables[name].values)
        return [[self.value(place.cell(i, j)) for j in range(place.width)] for i in range(height)]

    def front(self, row: int) -> list[Any]:
        """A row of the first sheet, numbered as there, without empty cells."""
        sheet = self.sheet.text("translation")
        cells = (self.value(Area(sheet, (row - 1, 1 + i) * 2)) for i in range(TARGET_ROWS))
        return [cell for cell in cells if cell != ""]

    def checks(self) -> list[str]:
        sheet = self.sheet.text("translation")
        return [self.value(Area(sheet, (7, 1 + i) * 2)) for i in range(len(SENTENCE))]

    def message(self) -> str:
        return self.value(Area(self.sheet.text("translation"), (8, 1) * 2))


def name_of(area: Area) -> str:
    """A cell as the library names it."""
    row, column, *_ = area.corners
    return f"'[pencil.xlsx]{area.sheet.upper()}'!{get_column_letter(column + 1)}{row + 1}"


def matrix_of(values: list, width: int) -> list[list[float]]:
    """A vector is a row or a column."""
    if isinstance(values[0], list):
        return values
    return [[value] for value in values] if width == 1 else [values]


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Calculator:
    return Calculator("en", tmp_path_factory.mktemp("spreadsheet"))


@pytest.fixture(scope="module")
def contents() -> dict[str, bytes]:
    return {language: Spreadsheet(language).content() for language in LANGUAGES}


def assert_equals(table: list[list[float]], expected: list[list[float]], name: str) -> None:
    """Equal up to the tolerance, relative to the largest number of the table."""
    known = [[max(value, MINUS_INFINITY) for value in row] for row in expected]
    scale = max(1, *(abs(value) for row in expected for value in row if value > -math.inf))
    for row, expected_row in zip(table, known, strict=False):
        shown = row[: len(expected_row)]
        assert shown == pytest.approx(expected_row, rel=0, abs=TOLERANCE * scale), name


def assert_equals_by_hand(calculator: Calculator, model: Any) -> None:
    """Each table; rows and columns without words are more than by_hand.py has."""
    assert {table.name for table in model.tables} == {*calculator.sheet.tables}
    for table in model.tables:
        assert_equals(calculator.table(table.name), table.values, table.name)


def cells_of(content: bytes, values: bool = False) -> dict[Cell, Any]:
    """What is in each cell, or with which value it is stored."""
    book = openpyxl.load_workbook(io.BytesIO(content), data_only=values)
    return {
        (sheet.title, cell.row, cell.column): cell.value
        for sheet in book
        for row in sheet.iter_rows()
        for cell in row
        if cell.value is not None
    }


def formulas_of(content: bytes) -> dict[Cell, str]:
    cells = cells_of(content)
    return {at: value for at, value in cells.items() if str(value).startswith("=")}


# What it computes


@pytest.mark.parametrize(
    "text",
    [pytest.param(each, marks=() if each in QUICK else pytest.mark.slow) for each in SENTENCES],
)
def test_each_sentence_is_computed_as_by_hand(english, text):
    by_hand = ByHand(ABOUT)
    translation = by_hand.translate(text.split())
    english.calculate(text.split())
    probabilities = [max(row) for row in by_hand.tables[-1].values]
    assert english.front(12) == [*translation, "<eos>"]
    assert english.front(13) == pytest.approx(probabilities, rel=TOLERANCE)
    assert english.message() == ""
    assert_equals_by_hand(english, by_hand)


def test_every_weight_can_be_changed(english):
    draw = random.Random(0)
    about = copy.deepcopy(ABOUT)
    for values in about["weights"].values():
        for row in values if isinstance(values[0], list) else [values]:
            row[:] = [draw.choice([-1, -0.5, 0.5, 1]) for _ in row]
    by_hand = ByHand(about)
    translation = by_hand.translate(SENTENCE)
    english.calculate(changed=about["weights"])
    assert_equals_by_hand(english, by_hand)
    assert [word for word in english.front(12) if word != "<eos>"] == translation


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("we dance ?", ["", "unknown", "", "", ""]),
        ("we work  ?", ["", "", "missing", "", ""]),
        ("", ["missing", "", "", "", ""]),
    ],
)
def test_a_sentence_that_the_model_cannot_read_gives_a_message(english, text, problem):
    english.calculate(text.split(" ") if text else [])
    assert english.checks() == [TEXTS[key][0] if key else "" for key in problem]
    assert english.message() == TEXTS["message"][0]
    assert english.front(12) == english.front(13) == []
    assert all(math.isfinite(value) for row in english.table("logits") for value in row)


# What is in the file


def test_the_stored_values_are_those_of_the_formulas(english):
    english.calculate()
    stored = cells_of(english.content, values=True)
    for (sheet, row, column), formula in formulas_of(english.content).items():
        value = english.value(Area(sheet, (row - 1, column - 1) * 2))
        expected = stored.get((sheet, row, column), "")
        if isinstance(expected, str):
            assert value == expected, formula
        else:
            assert value == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE), formula


def test_only_common_functions_and_no_array_formulas_are_used(contents):
    texts = formulas_of(contents["en"]).values()
    tokens = [token for text in texts for token in Tokenizer(text).items]
    functions = {each.value for each in tokens if each.type == "FUNC"} - {")"}
    assert functions == {f"{name}(" for name in FUNCTIONS}
    assert {each.value for each in tokens if each.type.startswith("OPERATOR")} <= OPERATORS
    archive = zipfile.ZipFile(io.BytesIO(contents["en"]))
    assert not [name for name in archive.namelist() if b't="array"' in archive.read(name)]


def test_the_list_has_the_words_that_the_model_knows(contents):
    book = openpyxl.load_workbook(io.BytesIO(contents["en"]))
    [rule] = book.worksheets[0].data_validations.dataValidation
    assert str(rule.sqref) == "B7:F7"
    assert not rule.showErrorMessage  # the cell below has the message
    sheet, _, area = rule.formula1.rpartition("!")
    cells = [cell.value for (cell,) in book[sheet.strip("'")][area]]
    assert cells == [word for word in ABOUT["source"] if not word.startswith("<")]
    assert {word for text in SENTENCES for word in text.split()} == {*cells}
    assert max(len(text.split()) for text in SENTENCES) == len(SENTENCE)


def test_the_chinese_file_has_the_same_formulas(contents):
    names = [openpyxl.load_workbook(io.BytesIO(each)).sheetnames for each in contents.values()]
    words = [(f"{chinese}!", f"{english}!") for english, chinese in zip(*names, strict=True)]
    words += [(f'"{chinese}"', f'"{english}"') for english, chinese in TEXTS.values()]

    def in_english(formula: str) -> str:
        for chinese, english in sorted(words, reverse=True, key=lambda pair: len(pair[0])):
            formula = formula.replace(chinese, english)
        return formula

    english, chinese = (
        [formula.replace("'", "") for formula in formulas_of(content).values()]
        for content in contents.values()
    )
    assert [in_english(formula) for formula in chinese] == english
