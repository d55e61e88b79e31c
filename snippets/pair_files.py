"""Pairs of texts from the files that people have.

Text with tabs, CSV, JSON lines, two parallel files; TMX, gettext catalogs and
XLIFF with translate-toolkit; each also compressed by gzip, bzip2, xz or zip.
"""

import bz2
import codecs
import csv
import gzip
import io
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

CATALOGS = ".tmx", ".po", ".mo", ".xliff", ".xlf"
BROKEN = (
    EOFError,
    OSError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
)
CHECKED = 1000  # so many rows tell whether a column has text


class Row(NamedTuple):
    """The number of a line, or of an entry, and its columns."""

    number: int
    columns: list[str]


def read_bytes(path: Path) -> bytes:
    """What a file has, unpacked if it is compressed."""
    data = path.read_bytes()
    try:
        if data.startswith(b"\x1f\x8b\x08"):
            data = gzip.decompress(data)
        elif re.match(rb"BZh\d1AY&SY", data):
            data = bz2.decompress(data)
        elif data.startswith(b"\xfd7zXZ\0"):
            data = lzma.decompress(data)
        elif data.startswith(b"PK\x03\x04"):
            data = only_member(path)
    except BROKEN as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    if data[257:262] == b"ustar":
        raise ValueError(f"{path} is an archive; unpack it first")
    return data


def only_member(path: Path) -> bytes:
    with zipfile.ZipFile(path) as file:
        names = [name for name in file.namelist() if not name.endswith("/")]
        if "[Content_Types].xml" in names or "mimetype" in names:
            raise ValueError(
                f"{path} is a document or a spreadsheet; save it as text "
                "with tabs, in the encoding UTF-8"
            )
        if len(names) != 1:
            raise ValueError(f"{path} has {len(names)} files; unpack it first")
        return file.read(names[0])


MARKS = {  # UTF-32 first: its mark begins with that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def encoding_of(data: bytes) -> str:
    """By its mark; or the one of UTF-16 and UTF-32 that makes zeros a text."""
    for mark, encoding in MARKS.items():
        if data.startswith(mark):
            return encoding
    if b"\0" in data:
        for encoding in "utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be":
            text = data.decode(encoding, errors="replace")
            if "\0" not in text and {*"\r\n"} & {*text}:
                return encoding
    return "utf-8"


def read_text(path: Path, encoding: str | None = None) -> str:
    """Raises ValueError, with the line, for bytes that are not text."""
    data = read_bytes(path)
    encoding = encoding or encoding_of(data)
    try:
        text = data.decode(encoding)
    except LookupError as error:
        raise ValueError(f"there is no encoding {encoding!r}") from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        place = error.start - data.rfind(b"\n", 0, error.start)
        raise ValueError(
            f"{path}:{line}: byte {place} of the line, "
            f"0x{data[error.start]:02x}, is not {encoding.upper()}; save the "
            "file in the encoding UTF-8, or name its own with --encoding"
        ) from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ValueError(f"{path}:{line}: a NUL character; is this a text?")
    return text


def lines_of(text: str) -> list[str]:
    """Lines that end with LF, CR LF or, in a file without LF, with CR."""
    end = "\n" if "\n" in text else "\r"
    lines = text.split(end)
    return lines if lines[-1] else lines[:-1]


def read_rows(path: Path, encoding: str | None = None) -> Iterator[Row]:
    """The rows of a file, whose name tells its format."""
    ending = path.suffix.casefold()
    if ending in (".gz", ".bz2", ".xz", ".zip"):
        ending = path.with_suffix("").suffix.casefold()
    if ending in CATALOGS:
        return catalog_rows(path)
    text = read_text(path, encoding)
    if ending in (".json", ".jsonl", ".ndjson"):
        return json_rows(path, text)
    lines = lines_of(text)
    if ending == ".csv" or is_quoted(lines):
        separator = "," if ending == ".csv" and "\t" not in lines[0] else "\t"
        if separator == "," and lines[0].count(";") > lines[0].count(","):
            separator = ";"  # as spreadsheets of many countries write it
        return csv_rows(path, text, separator)
    separator = "\t"
    if not any("\t" in line for line in lines[:CHECKED]):
        separator = " ||| "
    return tab_rows(path, lines, separator)


def tab_rows(path: Path, lines: list[str], separator: str) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        columns = line.split(separator)
        if len(columns) == 1 and line.strip():
            raise ValueError(
                f"{path}:{number}: one column; a line has a source, a tab "
                "and a target (two parallel files: give both)"
            )
        yield Row(number, columns)


def is_quoted(lines: list[str]) -> bool:
    """Whether nearly all first cells are in quotes."""
    found = [line for line in lines[:CHECKED] if line.strip()]
    quoted = [
        line.startswith('"') and line.rstrip().endswith('"') and '"\t"' in line
        for line in found
    ]
    return bool(found) and sum(quoted) >= 0.9 * len(found)


def csv_rows(path: Path, text: str, separator: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, ""), delimiter=separator)
    try:
        for columns in reader:
            if len(columns) == 1 and columns[0].strip():
                raise ValueError(
                    f"{path}:{reader.line_num}: one column; "
                    "a row has a source and a target"
                )
            yield Row(reader.line_num, columns or [""])
    except csv.Error as error:
        raise ValueError(f"{path}:{reader.line_num}: {error}") from error


def json_rows(path: Path, text: str) -> Iterator[Row]:
    """Objects, one a line or in a list; the first row has their keys."""
    try:
        found = json.loads(text) if text.lstrip().startswith("[") else None
        if found is None:
            found = [
                json.loads(each) for each in lines_of(text) if each.strip()
            ]
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}:{error.lineno}: {error.msg}") from error
    keys: list[str] = []
    for number, each in enumerate(found, 1):
        if isinstance(each, dict):
            each = each.get("translation", each)  # as Hugging Face writes it
        if isinstance(each, list):
            each = dict(enumerate(each))
        if not isinstance(each, dict):
            raise ValueError(
                f"{path}: entry {number} is neither list nor object"
            )
        if not keys:
            keys = [*each]
            yield Row(0, [str(key) for key in keys])
        yield Row(number, [str(each.get(key) or "") for key in keys])


def catalog_rows(path: Path) -> Iterator[Row]:
    """Translated entries of TMX, PO, MO or XLIFF, without the fuzzy ones."""
    try:
        from translate.storage import factory
    except ImportError as error:
        raise ValueError(
            f"{path} needs another library: pip install translate-toolkit"
        ) from error
    try:
        units = factory.getobject(str(path)).units
    except Exception as error:  # each format has errors of its own
        raise ValueError(f"{path} can't be read: {error}") from error
    for number, unit in enumerate(units, 1):
        if unit.isheader() or unit.isfuzzy() or not unit.source:
            continue
        yield Row(number, [str(unit.source), str(unit.target or "")])


def parallel_rows(
    paths: Sequence[Path], encoding: str | None = None
) -> Iterator[Row]:
    """Line i of one file is the translation of line i of the other."""
    sides = [lines_of(read_text(path, encoding)) for path in paths]
    if len(sides[0]) != len(sides[1]):
        raise ValueError(
            f"{paths[0]} has {len(sides[0])} lines, but {paths[1]} has "
            f"{len(sides[1])}; parallel files have equally many"
        )
    for number, columns in enumerate(zip(*sides, strict=True), 1):
        yield Row(number, [*columns])


def no_text(values: Sequence[str]) -> str | None:
    """What a column has if it is not text, or None."""
    values = [value for value in values if value.strip()]

    def nearly_all(found: Iterable[object]) -> bool:
        return sum(map(bool, found)) >= 0.9 * len(values)

    if not values:
        return "empty"
    if nearly_all(not re.search(r"[^\W\d_]", value) for value in values):
        return "numbers"
    if nearly_all(
        re.search(r"CC[- ]BY|https?://|licen[cs]e", value) for value in values
    ):
        return "addresses"
    if nearly_all(
        re.fullmatch(r"[\w.:/#-]*\d[\w.:/#-]*", value, re.ASCII)
        for value in values
    ):
        return "identifiers"
    if len(values) >= 50 and len({*values}) <= max(1, len(values) // 50):
        return "values"
    return None


def choose_columns(rows: list[Row], asked: str | None, path: Path) -> list[int]:
    """The indices of two columns: those asked for, or the first two.

    Raises ValueError if these are not in the file; and, if they were not
    asked for, for a column without text.
    """
    widths = [len(row.columns) for row in rows[:CHECKED]]
    width = max(widths, default=2)
    if asked:
        names = [name.strip() for name in asked.split(",")]
        header = rows[0].columns if rows else []
        found = [
            header.index(name) if name in header else int(name) - 1
            for name in names
            if name in header or name.isdecimal()
        ]
        if (
            len(names) != 2
            or len(found) != 2
            or not all(0 <= i < width for i in found)
        ):
            raise ValueError(
                f"{path}: --columns {asked} are not two of its {width} columns"
            )
        return found
    columns = [
        [
            row.columns[i]
            for row in islice(rows, CHECKED)
            if i < len(row.columns)
        ]
        for i in range(width)
    ]
    reasons = [no_text(values) for values in columns]
    for i, reason in enumerate(reasons[:2], 1):
        if reason:
            texts = [str(j) for j, other in enumerate(reasons, 1) if not other]
            raise ValueError(
                f"{path}: column {i} "
                + {
                    "empty": "is empty",
                    "numbers": "has only numbers",
                    "addresses": "has addresses or licenses",
                    "identifiers": "has only identifiers",
                    "values": f"has few values, such as {columns[i - 1][0]!r}",
                }[reason]
                + (
                    f"; choose two columns, such as --columns {texts[0]}"
                    f",{texts[1]}"
                    if len(texts) > 1
                    else "; if it is meant, write --columns 1,2"
                )
            )
    return [0, 1]


def read_columns(
    paths: Sequence[Path],
    columns: str | None = None,
    encoding: str | None = None,
) -> list[Row]:
    """Rows of two columns each, from one file or from two parallel ones.

    columns is two numbers from 1 on, or two names of a first row, with a
    comma. Raises ValueError for a file that can't be read or has no text.
    """
    try:
        if len(paths) > 2:
            raise ValueError(f"one file or two parallel ones, got {len(paths)}")
        rows = [
            *(
                parallel_rows(paths, encoding)
                if len(paths) == 2
                else read_rows(paths[0], encoding)
            )
        ]
    except OSError as error:
        raise ValueError(f"{error.filename}: {error.strerror}") from error
    if not any(any(map(str.strip, row.columns)) for row in rows):
        raise ValueError(f"{paths[0]}: the file is empty")
    chosen = choose_columns(rows, columns, paths[0])
    if rows[0].number == 0 or (columns and not columns[0].isdecimal()):
        rows = rows[1:]  # the names of the columns
    return [
        Row(row.number, [cell(row, chosen[0]), cell(row, chosen[1])])
        for row in rows
    ]


def cell(row: Row, i: int) -> str:
    return row.columns[i] if i < len(row.columns) else ""
