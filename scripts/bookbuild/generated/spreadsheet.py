"""Writes the spreadsheet pencil.xlsx: the pencil model as formulas, with the numbers of by_hand.py.

The first sheet has the words, the second the weights, and each other one a part of the model.
"""

import datetime
import io
import json
from typing import Any

from xlsxwriter import Workbook
from xlsxwriter.utility import quote_sheetname, xl_range
from xlsxwriter.worksheet import Worksheet

from bookbuild.generated.pencil_steps import PARTS, RESULTS, SENTENCE, split_name
from bookbuild.generated.spreadsheet_formulas import MINUS_INFINITY, Area, Formulas, Place
from bookbuild.generated.spreadsheet_style import FONT, FORMATS, TEXTS, formula_runs, sheet_name
from bookbuild.pages.paths import LANGUAGES

TARGET_ROWS = 7  # by_hand.py translates into at most seven words


def spreadsheet(language: str) -> bytes:
    """The file in one language."""
    return Spreadsheet(language).content()


class Spreadsheet:
    def __init__(self, language: str) -> None:
        from by_hand import PENCIL, ByHand  # a snippet, which the build imports only to run it

        self.which = LANGUAGES.index(language)
        self.about = json.loads(PENCIL.read_text(encoding="utf-8"))
        self.model = ByHand(self.about)
        self.translation = [*self.model.translate(SENTENCE), "<eos>"]
        self.target = ["<bos>", *self.translation[:-1]]
        self.tables = all_rows(self.model, self.target)
        self.vocabularies = {"src": self.model.source, "tgt": self.model.target}
        weights = [name for name in self.model.weights if name.endswith(".weight")]
        self.layers = [name.removesuffix(".weight") for name in weights if "layers" in name]
        self.formulas = Formulas({side: len(words) for side, words in self.vocabularies.items()})
        self.file = io.BytesIO()
        self.book = Workbook(self.file, {"in_memory": True})
        created = datetime.datetime(2026, 1, 1)  # the same file each time
        self.book.set_properties({"title": self.text("title"), "created": created})
        conditional = ("gray", "infinity")  # these change only what they name
        self.formats = {
            name: self.book.add_format(each if name in conditional else FONT | each)
            for name, each in FORMATS.items()
        }
        self.names = {part: sheet_name(titles[self.which]) for part, titles in PARTS.items()}
        names = [self.text("translation"), self.text("weights"), *self.names.values()]
        self.sheets = {name: self.book.add_worksheet(name) for name in names}

    def text(self, key: str) -> str:
        return TEXTS[key][self.which]

    def content(self) -> bytes:
        self.write_weights()
        self.write_parts()
        self.write_front()
        for name, sheet in self.sheets.items():
            sheet.hide_gridlines(2)
            sheet.set_landscape()
            sheet.set_paper(9)
            sheet.fit_to_pages(1, 0)
            sheet.ignore_errors({"formula_differs": "A1:Z200", "formula_range": "A1:Z200"})
            if name != self.text("translation"):
                sheet.freeze_panes(2, 1)
        self.book.close()
        return self.file.getvalue()

    # The weights

    def write_weights(self) -> None:
        """Words with their vectors side by side, then the matrices of each part."""
        name = self.text("weights")
        sheet = self.sheets[name]
        self.write_heading(sheet, name, self.text("blue help"))
        sheet.set_column(0, 50, 6, self.formats["plain"])
        self.write(sheet, 3, 0, self.text("words"), "part")
        tables = (("src", "src_embedding.embedding", PARTS["src"], RESULTS["embedding"]),
                  ("tgt", "tgt_embedding.embedding", PARTS["tgt"], RESULTS["embedding"]),
                  ("tgt", "output", RESULTS["logits"], RESULTS["logits"]))  # fmt: skip
        for column, (side, weight, titles, result) in zip((2, 10, 18), tables, strict=True):
            self.write_title(sheet, 4, column - 2, titles[self.which], result[2])
            place = Place(name, 6, column, len(self.model.weights[f"{weight}.weight"][0]))
            self.write_matrix(f"{weight}.weight", place)
            for i, word in enumerate(self.vocabularies[side]):
                self.write(sheet, 6 + i, column - 2, i, "count")
                self.write(sheet, 6 + i, column - 1, word, "word")
        row = 8 + max(map(len, self.vocabularies.values()))
        for part in PARTS:
            names = [name for name in self.layers if split_name(name)[0] == part]
            if names:
                self.write(sheet, row, 0, PARTS[part][self.which], "part")
                heights = [self.write_layer(each, row + 1, 7 * i) for i, each in enumerate(names)]
                row += max(heights) + 4

    def write_layer(self, name: str, row: int, column: int) -> int:
        """A matrix with its biases as the last column, or the two rows of a norm."""
        sheet_name, weight = self.text("weights"), self.model.weights[f"{name}.weight"]
        sheet, result = self.sheets[sheet_name], RESULTS[split_name(name)[1]]
        self.write_title(sheet, row, column, result[self.which], result[2])
        if isinstance(weight[0], list):
            labels: list[Any] = [*range(len(weight))]
            place = Place(sheet_name, row + 2, column + 1, len(weight[0]))
            bias = place._replace(column=place.column + place.width, width=1)
            self.write(sheet, row + 1, bias.column, "b", "column")
        else:
            labels, place = ["γ", "β"], Place(sheet_name, row + 2, column + 1, len(weight))
            bias = place._replace(row=place.row + 1)
        for i, label in enumerate(labels):
            self.write(sheet, row + 2 + i, column, label, "row")
        self.write_matrix(f"{name}.weight", place)
        self.write_matrix(f"{name}.bias", bias)
        return len(labels)

    def write_matrix(self, weight: str, place: Place) -> None:
        """The numbers that can be changed; those of a vector as a row, or as a column."""
        self.formulas.weights[weight] = place
        sheet, values = self.sheets[place.sheet], self.model.weights[weight]
        if not isinstance(values[0], list):
            values = [[value] for value in values] if place.width == 1 else [values]
        for j in range(place.width if not weight.endswith(".bias") else 0):
            self.write(sheet, place.row - 1, place.column + j, j, "column")
        for i, row in enumerate(values):
            for j, value in enumerate(row):
                self.write(sheet, place.row + i, place.column + j, value, "weight")

    # The parts of the model

    def write_parts(self) -> None:
        """First the places of all tables, then the formulas, which refer to them."""
        rows = dict.fromkeys(PARTS, 3)
        for side in ("src", "tgt"):
            self.formulas.numbers[side] = Place(self.names[side], rows[side] + 2, 1, 2)
            rows[side] += 3 + len(self.words_of(side))
        for name, table in self.tables.items():
            part = split_name(name)[0]
            place = Place(self.names[part], rows[part] + 2, 1, len(table.values[0]))
            self.formulas.tables[name] = place
            rows[part] += 3 + len(table.values)
        self.next_words = Place(self.names[""], rows[""] + 2, 1, 2)
        for part, name in self.names.items():
            sheet = self.sheets[name]
            mask = self.text("mask help") if part.endswith("attention") else ""
            self.write_heading(sheet, PARTS[part][self.which], self.text("rows help") + mask)
            sheet.set_column(0, 0, 20, self.formats["plain"])
            sheet.set_column(1, 20, 9, self.formats["plain"])
        for side in ("src", "tgt"):
            self.write_words(side)
        for name in self.tables:
            self.write_table(name)
        self.write_next_words()

    def words_of(self, side: str) -> list[str]:
        """The words of the rows of the tables; "" where there is none."""
        return SENTENCE if side == "src" else pad(self.target, "")

    def write_words(self, side: str) -> None:
        """The words with their numbers and positions."""
        place = self.formulas.numbers[side]
        sheet = self.sheets[place.sheet]
        top = place.row - 2
        self.write(sheet, top, 0, self.text("words"), "bold")
        for j, label in enumerate(("number", "position")):
            self.write(sheet, top + 1, 1 + j, self.text(label).lower(), "column")
        for i, word in enumerate(self.words_of(side)):
            if side == "src":
                typed = self.typed_word(i).seen_from(place.sheet)
                formula = f'IF({typed}="","",{typed})'
            else:
                formula = self.target_word(i)
            self.write_formula(sheet, place.row + i, 0, formula, "word", word)
            own = place.cell(i, -1).seen_from(place.sheet)
            number = self.vocabularies[side].index(word) if word else 0
            formula = self.formulas.number_of(side, own, place.sheet)
            self.write_formula(sheet, place.row + i, 1, formula, "count", number)
            self.write(sheet, place.row + i, 2, i, "count")
        self.gray_rows(place, len(self.words_of(side)))

    def target_word(self, i: int) -> str:
        """<bos>, then always the word that is most probable after the one before, up to <eos>."""
        sheet = self.names["tgt"]
        tokens = self.formulas.vocabulary("tgt")
        bos, eos = (
            tokens.part(self.model.target.index(token)).seen_from(sheet, absolute=True)
            for token in ("<bos>", "<eos>")
        )
        if not i:
            message = Area(self.text("translation"), (8, 1, 8, 1)).seen_from(sheet)
            return f'IF({message}="",{bos},"")'
        before = self.formulas.numbers["tgt"].cell(i - 1, -1).seen_from(sheet)
        word = self.next_words.cell(i - 1).seen_from(sheet)
        return f'IF({before}="","",IF({word}={eos},"",{word}))'

    def write_table(self, name: str) -> None:
        table, place = self.tables[name], self.formulas.tables[name]
        sheet, (part, result) = self.sheets[place.sheet], split_name(name)
        top = place.row - 2
        self.write_title(sheet, top, 0, RESULTS[result][self.which], RESULTS[result][2], name)
        rows, columns = sides(part, result)
        for j in range(place.width):
            if columns:
                formula = self.formulas.numbers[columns].cell(j, -1).seen_from(place.sheet)
                word = self.words_of(columns)[j]
                self.write_formula(sheet, top + 1, 1 + j, formula, "column", word)
            elif part == "":
                formula = self.formulas.vocabulary("tgt").part(j).seen_from(place.sheet)
                self.write_formula(sheet, top + 1, 1 + j, formula, "column", self.model.target[j])
            else:
                self.write(sheet, top + 1, 1 + j, j if place.width > 1 else "", "column")
        for i, values in enumerate(table.values):
            for j, value in enumerate(values):
                formula = self.formulas.formula(name, i, j)
                value = max(value, MINUS_INFINITY)
                self.write_formula(sheet, place.row + i, 1 + j, formula, "number", value)
        if result.startswith("scores"):  # before the gray rows: LibreOffice uses the first rule
            infinity = {"type": "cell", "criteria": "<=", "value": MINUS_INFINITY}
            area = place.row, 1, place.row + len(table.values) - 1, place.width
            sheet.conditional_format(*area, infinity | {"format": self.formats["infinity"]})
        self.write_row_words(place, rows)

    def write_next_words(self) -> None:
        """The most probable word of each row, and its probability."""
        place, sheet = self.next_words, self.sheets[self.next_words.sheet]
        self.write(sheet, place.row - 2, 0, self.text("most probable"), "bold")
        for j, label in enumerate(("next", "probability")):
            self.write(sheet, place.row - 1, 1 + j, self.text(label).lower(), "column")
        probabilities = self.formulas.tables["probabilities"]
        tokens = probabilities.cells(-1).seen_from(place.sheet, absolute=True)
        for i, values in enumerate(self.tables["probabilities"].values):
            row = probabilities.cells(i).seen_from(place.sheet)
            next_word = self.model.target[values.index(max(values))]
            formula = f"INDEX({tokens},1,MATCH(MAX({row}),{row},0))"
            self.write_formula(sheet, place.row + i, 1, formula, "result", next_word)
            self.write_formula(sheet, place.row + i, 2, f"MAX({row})", "number", max(values))
        self.write_row_words(place, "tgt")

    def write_row_words(self, place: Place, side: str) -> None:
        """The words of the rows of a table."""
        words = self.words_of(side)
        for i, word in enumerate(words):
            formula = self.formulas.numbers[side].cell(i, -1).seen_from(place.sheet)
            self.write_formula(self.sheets[place.sheet], place.row + i, 0, formula, "word", word)
        self.gray_rows(place, len(words))

    def gray_rows(self, place: Place, height: int) -> None:
        """Gray where a row has no word."""
        word = place.cell(0, -1).seen_from(place.sheet)
        rule = {"type": "formula", "criteria": f'=${word}=""', "format": self.formats["gray"]}
        end = place.row + height - 1, place.width
        self.sheets[place.sheet].conditional_format(place.row, 0, *end, rule)

    # The first sheet

    def typed_word(self, i: int) -> Area:
        return Area(self.text("translation"), (6, 1 + i) * 2)

    def write_front(self) -> None:
        name = self.text("translation")
        sheet = self.sheets[name]
        sheet.set_column(0, 0, 26, self.formats["plain"])
        sheet.set_column(1, 8, 14, self.formats["plain"])
        self.write(sheet, 0, 0, self.text("title"), "heading")
        for row, key in enumerate(("help", "weights help", "sheets help"), 1):
            self.write(sheet, row, 0, self.text(key), "plain")
        self.write_source(sheet)
        for row, key in ((10, "step"), (11, "translation"), (12, "probability")):
            self.write(sheet, row, 0, self.text(key), "quiet" if key == "step" else "bold")
        probabilities = self.tables["probabilities"].values
        for i, word in enumerate(pad(self.translation, "")):
            self.write(sheet, 10, 1 + i, i + 1, "column")
            row = self.formulas.numbers["tgt"].cell(i, -1).seen_from(name)
            for j, (key, value) in enumerate((("result", word), ("number", max(probabilities[i])))):
                formula = f'IF({row}="","",{self.next_words.cell(i, j).seen_from(name)})'
                self.write_formula(sheet, 11 + j, 1 + i, formula, key, value if word else "")
        self.write(sheet, 14, 0, self.text("sentences"), "part")
        for row, (source, target) in enumerate(self.about["sentences"], 15):
            self.write(sheet, row, 0, source, "plain")
            self.write(sheet, row, 1, target, "plain")
        self.write(sheet, 14, 5, self.text("sheets"), "part")
        for row, other in enumerate([*self.sheets][1:], 15):
            link = f"internal:{quote_sheetname(other)}!A1"
            sheet.write_url(row, 5, link, self.formats["link"], other)
        sheet.activate()
        sheet.set_selection(6, 1, 6, 1)

    def write_source(self, sheet: Worksheet) -> None:
        """The cells to type into, with what is wrong below each."""
        name = self.text("translation")
        self.write(sheet, 5, 0, self.text("position"), "quiet")
        self.write(sheet, 6, 0, self.text("source"), "bold")
        special = len([word for word in self.model.source if word.startswith("<")])
        known = self.formulas.vocabulary("src", first=special).seen_from(name, absolute=True)
        for i, word in enumerate(SENTENCE):
            self.write(sheet, 5, 1 + i, i, "column")
            self.write(sheet, 6, 1 + i, word, "typed")
            cell, after = (self.typed_word(each).seen_from(name) for each in (i, i + 1))
            empty = f'"{self.text("missing")}"'  # of the first word, or before another one
            if i:
                empty = f'IF({after}="","",{empty})' if i < len(SENTENCE) - 1 else '""'
            unknown = f'IF(SUMPRODUCT(({known}={cell})*1)=0,"{self.text("unknown")}","")'
            self.write_formula(sheet, 7, 1 + i, f'IF({cell}="",{empty},{unknown})', "error", "")
        typed = (6, 1, 6, len(SENTENCE))
        sheet.data_validation(
            *typed, {"validate": "list", "source": f"={known}", "show_error": False}
        )
        checks = xl_range(7, 1, 7, len(SENTENCE))
        formula = f'IF(SUMPRODUCT(({checks}<>"")*1)=0,"","{self.text("message")}")'
        self.write_formula(sheet, 8, 1, formula, "message", "")

    # Cells

    def write(self, sheet: Worksheet, row: int, column: int, value: str | float, key: str) -> None:
        sheet.write(row, column, value, self.formats[key])

    def write_formula(
        self, sheet: Worksheet, row: int, column: int, formula: str | int, key: str, value: Any
    ) -> None:
        """A formula with its value, which programs that don't calculate show; or a number."""
        if isinstance(formula, str):
            sheet.write_formula(row, column, f"={formula}", self.formats[key], value)
        else:
            self.write(sheet, row, column, formula, key)

    def write_heading(self, sheet: Worksheet, title: str, text: str) -> None:
        self.write(sheet, 0, 0, title, "heading")
        self.write(sheet, 1, 0, text, "quiet")

    def write_title(
        self, sheet: Worksheet, row: int, column: int, title: str, tex: str, name: str = ""
    ) -> None:
        """What a table is and its formula; with a name, that of by_hand.py, in two cells."""
        formula: list[Any] = []
        for kind, text in formula_runs(tex):
            formula += [self.formats[kind or "plain"], text]
        if name:
            self.write(sheet, row, column, title, "bold")
            runs = [*formula, self.formats["quiet"], f"    {name}"]
            sheet.write_rich_string(row, column + 1, *runs, self.formats["plain"])
        else:
            runs = [self.formats["bold"], f"{title}  ", *formula]
            sheet.write_rich_string(row, column, *runs, self.formats["plain"])


def all_rows(model: Any, target: list[str]) -> dict[str, Any]:
    """The tables by name, with a row for each word that a translation can have.

    The rows of <pad> change no row before them.
    """
    model.tables.clear()
    memory = model.encode(SENTENCE)
    model.decode(pad(target, "<pad>"), memory, SENTENCE)
    return {table.name: table for table in model.tables}


def pad(words: list[str], word: str) -> list[str]:
    return words + [word] * (TARGET_ROWS - len(words))


def sides(part: str, result: str) -> tuple[str, str]:
    """Whose words the rows and the columns of a table have: src, tgt, or none."""
    encoder = part == "src" or part.startswith("encoder")
    crossed = part.endswith("cross_attention")
    rows = "src" if encoder or (crossed and result in ("key", "value")) else "tgt"
    if not result.startswith(("scores", "weights")):
        return rows, ""
    return rows, "src" if encoder or crossed else "tgt"
