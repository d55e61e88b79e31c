"""The formulas of the spreadsheet: each number of each table of by_hand.py from cells before it."""

from typing import NamedTuple

from xlsxwriter.utility import quote_sheetname, xl_range_abs, xl_rowcol_to_cell

from bookbuild.generated.pencil_steps import read_by, split_name, summands

CAUSAL = "decoder.layers.0.self_attention"
MINUS_INFINITY = -1_000_000  # e to this power is 0


class Place(NamedTuple):
    """Where numbers are: the sheet, and the row and column of the first."""

    sheet: str
    row: int
    column: int
    width: int

    def cell(self, i: int, j: int = 0, height: int = 1, width: int = 1) -> "Area":
        """The cell in row i and column j, or the cells from there on."""
        row, column = self.row + i, self.column + j
        return Area(self.sheet, (row, column, row + height - 1, column + width - 1))

    def cells(self, i: int) -> "Area":
        """A row of the table."""
        return self.cell(i, width=self.width)


class Area(NamedTuple):
    """A cell, or a range of cells."""

    sheet: str
    corners: tuple[int, ...]

    def part(self, i: int) -> "Area":
        """A cell of a column."""
        row, column, *_ = self.corners
        return Area(self.sheet, (row + i, column) * 2)

    def seen_from(self, sheet: str, absolute: bool = False) -> str:
        """The reference to it in a formula on a sheet."""
        row, column, *end = self.corners
        text = xl_range_abs(*self.corners)
        if [row, column] == end:
            text = xl_rowcol_to_cell(row, column, absolute, absolute)
        elif not absolute:
            text = text.replace("$", "")
        return text if sheet == self.sheet else f"{quote_sheetname(self.sheet)}!{text}"


class Formulas:
    """The formulas, once all tables, weights and words have their places.

    Empty cells count as <pad>, whose number is 0: their rows are computed, and masked.
    """

    def __init__(self, vocabulary_sizes: dict[str, int]) -> None:
        self.tables: dict[str, Place] = {}
        self.weights: dict[str, Place] = {}
        self.numbers: dict[str, Place] = {}  # number and position of the words of src, tgt
        self.vocabulary_sizes = vocabulary_sizes

    def formula(self, name: str, i: int, j: int) -> str | int:
        """The formula of the number in row i and column j; the number if it is fixed."""
        part, result = split_name(name)
        sheet = self.tables[name].sheet

        def cell(table: str, i: int, j: int = 0) -> str:
            return self.tables[table].cell(i, j).seen_from(sheet)

        def cells(table: str, i: int) -> str:
            return self.tables[table].cells(i).seen_from(sheet)

        def weight(weight: str, i: int, j: int = 0) -> str:
            return self.weights[weight].cell(i, j).seen_from(sheet, absolute=True)

        def dot_weights(table: str, weight: str) -> str:
            row = self.weights[weight].cells(j).seen_from(sheet, absolute=True)
            return f"SUMPRODUCT({cells(table, i)},{row})"

        match result.split("."):
            case ["embedding"]:
                table = self.weights[f"{part}_embedding.embedding.weight"]
                column = table.cell(0, j, self.vocabulary_sizes[part])
                number = self.numbers[part].cell(i).seen_from(sheet)
                return f"2*INDEX({column.seen_from(sheet, absolute=True)},{number}+1)"
            case ["position"]:
                position = self.numbers[part].cell(i, 1).seen_from(sheet)
                slow = "/100" if j >= 2 else ""
                return f"{'COS' if j % 2 else 'SIN'}({position}{slow})"
            case ["start" | "sum"]:
                return "+".join(cell(each, i, j) for each in summands(part))
            case ["query" | "key" | "value" | "output" | "linear1" | "linear2"]:
                product = dot_weights(read_by(name), f"{name}.weight")
                return f"{product}+{weight(f'{name}.bias', j)}"
            case ["scores", head]:
                if part == CAUSAL and j > i:
                    return MINUS_INFINITY
                query, key = (
                    self.tables[f"{part}.{of}"].cell(row, 2 * int(head), width=2).seen_from(sheet)
                    for of, row in (("query", i), ("key", j))
                )
                score = f"SUMPRODUCT({query},{key})/SQRT(2)"
                if part == CAUSAL or not j:  # a sentence has a first word
                    return score
                word = self.tables[name].cell(-1, j)  # above the column
                return f'IF({word.seen_from(sheet)}="",{MINUS_INFINITY},{score})'
            case ["weights", head]:
                return self.softmax(f"{part}.scores.{head}", i, j)
            case ["heads"]:
                weights = f"{part}.weights.{j // 2}"
                seen = i + 1 if part == CAUSAL else self.tables[weights].width
                value = f"{part}.value"
                return "+".join(f"{cell(weights, i, k)}*{cell(value, k, j)}" for k in range(seen))
            case ["mean"]:
                return f"SUM({cells(f'{part}.sum', i)})/4"
            case ["centered"]:
                return f"{cell(f'{part}.sum', i, j)}-{cell(f'{part}.mean', i)}"
            case ["deviation"]:
                row = cells(f"{part}.centered", i)
                return f"SQRT(SUMPRODUCT({row},{row})/4+0.00001)"
            case ["norm"]:
                normalized = f"{cell(f'{part}.centered', i, j)}/{cell(f'{part}.deviation', i)}"
                gamma, beta = weight(f"{part}.weight", 0, j), weight(f"{part}.bias", 0, j)
                return f"{normalized}*{gamma}+{beta}"
            case ["relu"]:
                return f"MAX(0,{cell(f'{part}.linear1', i, j)})"
            case ["logits"]:
                return dot_weights("decoder.layers.0.norm3", "output.weight")
            case ["probabilities"]:
                return self.softmax("logits", i, j)
        raise AssertionError(f"no formula for {name}")

    def softmax(self, table: str, i: int, j: int) -> str:
        place = self.tables[table]
        cells = place.cell(i, j), place.cells(i)
        score, scores = (each.seen_from(place.sheet) for each in cells)
        # Without the subtraction, EXP of a score above 709 is an error.
        return f"EXP({score}-MAX({scores}))/SUMPRODUCT(EXP({scores}-MAX({scores})))"

    def number_of(self, side: str, word: str, sheet: str) -> str:
        """A word's number in the vocabulary, which is 0 for an empty cell."""
        tokens, numbers = (
            self.vocabulary(side, column).seen_from(sheet, absolute=True) for column in (-1, -2)
        )
        return f"SUMPRODUCT(({tokens}={word})*{numbers})"

    def vocabulary(self, side: str, column: int = -1, first: int = 0) -> Area:
        """The words of a language, or their numbers, left of their vectors."""
        table = self.weights[f"{side}_embedding.embedding.weight"]
        return table.cell(first, column, self.vocabulary_sizes[side] - first)
