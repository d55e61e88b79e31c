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
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

CATALOGS = ".tmx", ".po", ".mo", ".xliff", ".xlf"
JSON = ".json", ".jsonl", ".ndjson"
BROKEN = (
    EOFError,
    OSError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
)
UNPACK = {  # the first bytes of what is unpacked
    "gzip": rb"\x1f\x8b\x08",
    "bzip2": rb"BZh\d1AY&SY",
    "xz": rb"\xfd7zXZ\0|\x5d\0\0[\0-\xff]\0",
    "zip": rb"PK(\x03\x04|\x05\x06)",
}
OTHERS = {  # the first bytes of formats that are not read
    b"7z\xbc\xaf": "7z",
    b"Rar!": "RAR",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"\x04\x22\x4d\x18": "LZ4",
    b"\xd0\xcf\x11\xe0": "Office",
    b"%PDF": "PDF",
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"SQLite format": "SQLite",
}
CHECKED = 1000  # so many rows tell whether a column has text


class Row(NamedTuple):
    """The number of a line, or of an entry, and its columns."""

    number: int
    columns: list[str]


class Member(NamedTuple):
    """A file, or one inside an archive, unpacked."""

    name: str
    data: bytes

    @property
    def ending(self) -> str:
        """That of the name, which tells the format; or what the text says."""
        found = re.search(rb"<(tmx|xliff)\b", self.data[:1000])
        return f".{found[1].decode()}" if found else Path(self.name).suffix


def read_members(path: Path) -> list[Member]:
    """What a file has: one text, or the two of an archive by OPUS.

    Raises ValueError for what is damaged or not text.
    """
    return unpack(path, path.name.casefold(), path.read_bytes())


def unpack(path: Path, name: str, data: bytes) -> list[Member]:
    """Also what is compressed twice, or compressed inside an archive."""
    kind = next((k for k, sign in UNPACK.items() if re.match(sign, data)), None)
    try:
        if kind == "zip":
            return zip_members(path, data)
        if kind:
            name = re.sub(r"\.(gz|bz2|xz|lzma)$", "", name)
            data = {
                "gzip": gzip.decompress,
                "bzip2": bz2.decompress,
                "xz": lzma.decompress,
            }[kind](data)
            return unpack(path, name, data)
    except BROKEN as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    except RuntimeError as error:  # a password
        raise ValueError(f"{path} can't be unpacked: {error}") from error
    if data[257:262] == b"ustar":
        raise ValueError(f"{path} is an archive; unpack it first")
    for mark, other in OTHERS.items():
        if data.startswith(mark):
            raise ValueError(
                f"{path} is in the format {other}; unpack it, or save it as "
                "text with tabs, as CSV or as JSON lines"
            )
    return [Member(re.sub(r"\.(gz|bz2|xz)$", "", name), data)]


def zip_members(path: Path, data: bytes) -> list[Member]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        names = [name for name in file.namelist() if not name.endswith("/")]
        if "[Content_Types].xml" in names or "mimetype" in names:
            raise ValueError(
                f"{path} is a document or a spreadsheet; save it as text "
                "with tabs, in the encoding UTF-8"
            )
        other = r"(^|/)([._]|README|LICENSE)|\.(ids|scores|xml)$"
        texts = [name for name in names if not re.search(other, name)]
        if not 1 <= len(texts) <= 2:
            raise ValueError(f"{path} has {len(names)} files; unpack it first")
        found = [unpack(path, x.casefold(), file.read(x)) for x in texts]
        if any(len(members) > 1 for members in found[1:]):
            raise ValueError(f"{path} has archives; unpack it first")
        return [*chain(*found)]


CONTROLS = {*range(9), *range(14, 27)}  # bytes that a text doesn't have
SEVEN_BITS = {  # a sign of each encoding that is read as UTF-8 without error
    "iso2022_jp": r"\x1b\$[@B]",
    "iso2022_kr": r"\x0e[!-~]+\x0f",
    "hz": r"~\{[!-}]+~\}",
    "utf-7": r"\+[A-Za-z0-9+/]{4,}-",
}
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
            damaged = text.count("\ufffd") > len(text) / 10
            if "\0" not in text and {*"\r\n"} & {*text} and not damaged:
                return encoding
    return "utf-8"


def text_of(path: Path, data: bytes, encoding: str | None = None) -> str:
    """Raises ValueError, with the line, for bytes that are not text."""
    named, encoding = encoding, encoding or encoding_of(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        controls = sum(byte in CONTROLS for byte in data[:1000])
        if encoding == "utf-8" and controls > min(len(data), 1000) / 100:
            raise ValueError(
                f"{path} is not a text; save it as text with tabs, as CSV or "
                "as JSON lines"
            ) from error
        line = data.count(b"\n", 0, error.start) + 1
        place = error.start - data.rfind(b"\n", 0, error.start)
        raise ValueError(
            f"{path}:{line}: byte {place} of the line, "
            f"0x{data[error.start]:02x}, is not {encoding.upper()}; save the "
            "file in the encoding UTF-8, or name its own with --encoding"
        ) from error
    except (LookupError, ValueError) as error:
        raise ValueError(f"there is no encoding {encoding!r}") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ValueError(f"{path}:{line}: a NUL character; is this a text?")
    text = text.replace("\ufeff", "")  # also between files that were joined
    lines = [each for each in lines_of(text[:100_000]) if each.strip()]
    for other, sign in {} if named else SEVEN_BITS.items():
        if 2 * sum(bool(re.search(sign, each)) for each in lines) > len(lines):
            raise ValueError(
                f"{path} seems to be in {other}: --encoding {other}"
            )
    if is_misread("\n".join(each for each in lines if not each.isascii())):
        raise ValueError(
            f"{path} was UTF-8, but a program read it in another encoding and "
            "saved that; export it again, or leave out --encoding"
        )
    return text


READ_AS = "latin-1 cp1252 cp1250 cp1251 koi8_r cp437 cp850 cp866 mac_roman"
DOUBLE_BYTES = "gb18030 cp932 cp949 big5 euc_jp"


def is_misread(text: str) -> bool:
    """Whether the characters are the bytes of UTF-8, as in Ã© or 茅 for é.

    The bytes of a real text in another encoding are mostly not UTF-8.
    """
    for encoding in f"{READ_AS} {DOUBLE_BYTES}".split():
        read = text.encode(encoding, "replace").decode(errors="replace")
        found = [each for each in read if each > "\x7f" and each != "\ufffd"]
        lost = read.count("\ufffd") + read.count("?") - text.count("?")
        several = 3 if encoding in DOUBLE_BYTES else 1  # 猫 alone is è
        if len(found) > lost and len({*found}) >= several:
            return True
    return False


def lines_of(text: str) -> list[str]:
    """Lines that end with LF, CR LF or, in a file without LF, with CR."""
    end = "\n" if "\n" in text else "\r"
    lines = text.split(end)
    return lines if lines[-1] else lines[:-1]


def read_rows(path: Path, encoding: str | None = None) -> Iterator[Row]:
    """The rows of a file, whose name tells its format."""
    members = read_members(path)
    if len(members) == 2:
        names = [path / each.name for each in members]
        return parallel_rows(names, members, encoding)
    (member,) = members
    if member.ending in CATALOGS:
        return catalog_rows(path, member)
    text = text_of(path, member.data, encoding)
    if member.ending in JSON:
        return json_rows(path, text)
    head = re.match(r"(#[a-z]+[\w ]*:.*\r?\n)+", text)  # as Anki writes it
    commas = (
        head and "#separator:" in head[0] and "#separator:tab" not in head[0]
    )
    if head:
        text = "\n" * head[0].count("\n") + text[head.end() :]
    lines = lines_of(text)
    if member.ending == ".csv" or commas:
        return csv_rows(path, text, separator_of(text))
    if is_quoted(lines):
        return csv_rows(path, text, "\t")
    separator = "\t"
    if not any("\t" in line for line in lines[:CHECKED]):
        separator = " ||| "
    return tab_rows(path, lines, separator)


def tab_rows(path: Path, lines: list[str], separator: str) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        columns = line.split(separator)
        if len(columns) == 1 and line.strip():
            raise ValueError(
                f"{path}:{number}: one column; a line has a source, a tab and "
                "a target (two parallel files: give both; CSV, JSON: name it "
                ".csv, .jsonl)"
            )
        if re.search(r"\t.*\r.*\t", line):
            raise ValueError(
                f"{path}:{number}: a line end (CR) inside a line; "
                "save the file with line ends of one kind"
            )
        yield Row(number, columns)


def is_quoted(lines: list[str]) -> bool:
    """Whether nearly all first cells are in quotes."""
    found = [line for line in lines[:CHECKED] if line.strip()]
    quoted = [
        line.startswith('"') and line.rstrip().endswith('"') and '"\t"' in line
        for line in found
    ]
    if not found or sum(quoted) < 0.9 * len(found):
        return False
    try:
        return bool([*csv.reader(found, delimiter="\t", strict=True)])
    except csv.Error:  # quotation marks of the text
        return False


def separator_of(text: str) -> str:
    """The one that gives all rows the same number of cells."""
    for separator in "\t,;|":
        file = io.StringIO(text, "")
        reader = csv.reader(file, delimiter=separator, strict=True)
        try:
            widths = {len(row) for row in islice(reader, CHECKED) if row}
        except csv.Error:
            continue
        if len(widths) == 1 and widths != {1}:
            return separator
    return ","


def csv_rows(path: Path, text: str, separator: str) -> Iterator[Row]:
    file, width = io.StringIO(text, ""), 0
    reader = csv.reader(file, delimiter=separator, strict=True)
    try:
        for columns in reader:
            width = width or len(columns)
            if len(columns) == 1 and columns[0].strip():
                raise ValueError(
                    f"{path}:{reader.line_num}: one column; "
                    "a row has a source and a target"
                )
            if len(columns) > width:
                raise ValueError(
                    f"{path}:{reader.line_num}: {len(columns)} cells, but the "
                    f"first row has {width}; write a cell with {separator!r} "
                    "in quotes"
                )
            yield Row(reader.line_num, columns or [""])
    except csv.Error as error:
        raise ValueError(f"{path}:{reader.line_num}: {error}") from error


def load_json(text: str) -> Any:
    """With numbers as they are written; JSONDecodeError for what isn't read."""
    try:
        return json.loads(text, parse_int=str, parse_float=str)
    except RecursionError as error:
        raise json.JSONDecodeError("too many brackets", text, 0) from error


def json_columns(found: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Rows of an object with a list of texts for each column, or None."""
    columns = [
        [*each.values()] if isinstance(each, dict) else each
        for each in found.values()
    ]
    if len(columns) < 2 or not all(isinstance(each, list) for each in columns):
        return None
    texts = all(isinstance(each, str | None) for each in chain(*columns))
    keys = {tuple(each) for each in found.values() if isinstance(each, dict)}
    if not texts or len({*map(len, columns)}) > 1 or len(keys) > 1:
        return None
    rows = zip(*columns, strict=True)
    return [dict(zip(found, row, strict=True)) for row in rows]


def json_entries(path: Path, text: str) -> list[Any]:
    """The entries of a list or of an object, or one a line."""
    try:
        found = load_json(text)
    except json.JSONDecodeError as whole:
        entries, lines = [], lines_of(text)
        for number, line in enumerate(lines, 1):
            try:
                entries += [load_json(line)] if line.strip() else []
            except json.JSONDecodeError as error:
                if not entries and "\n" in text.strip():  # not JSON lines
                    number = whole.lineno
                raise ValueError(f"{path}:{number}: {error.msg}") from error
        return entries
    if isinstance(found, dict):
        if columns := json_columns(found):
            return columns
        lists = [each for each in found.values() if isinstance(each, list)]
        return lists[0] if len(lists) == 1 else [*map(list, found.items())]
    return found if isinstance(found, list) else [found]


def json_rows(path: Path, text: str) -> Iterator[Row]:
    """Lists, or objects: their first row has the keys."""
    keys: list[str] = []
    for number, each in enumerate(json_entries(path, text), 1):
        if isinstance(each, dict):
            each = each.get("translation", each)  # as Hugging Face writes it
        if isinstance(each, dict):
            if not keys:
                keys = [*each]
                yield Row(0, keys)
            each = [each.get(key) for key in keys]
        if not isinstance(each, list):
            raise ValueError(
                f"{path}: entry {number} is neither list nor object"
            )
        if any(isinstance(value, list | dict) for value in each):
            raise ValueError(
                f"{path}: entry {number} has a list or an object where a "
                "text should be"
            )
        yield Row(number, ["" if v is None else str(v) for v in each])


def catalog_rows(path: Path, member: Member) -> Iterator[Row]:
    """Translated entries of TMX, PO, MO or XLIFF, without the fuzzy ones."""
    try:
        from translate.storage import factory, xliff2
    except ImportError as error:
        raise ValueError(
            f"{path} needs another library: pip install translate-toolkit"
        ) from error
    kind = factory.getclass(f"name{member.ending}")
    if b"xliff:document:2" in member.data[:1000]:
        kind = xliff2.Xliff2File
    data = member.data
    charset = re.search(rb"charset=([\w-]+)", data[:5000])
    try:
        if member.ending == ".po" and charset:  # the library reads UTF-8 only
            name = charset[1].decode()
            text = data.decode(name).replace(f"charset={name}", "charset=UTF-8")
            data = text.encode()
        store = kind.parsestring(data)
    except Exception as error:  # each format has errors of its own
        raise ValueError(f"{path} can't be read: {error}") from error
    if member.ending == ".tmx":
        yield from memory_rows(store)
        return
    for number, unit in enumerate(store.units, 1):
        fuzzy = unit.isfuzzy() and member.ending in (".po", ".mo")
        if not (unit.isheader() or fuzzy or not unit.source):
            yield Row(number, [str(unit.source), str(unit.target or "")])


def memory_rows(store: Any) -> Iterator[Row]:
    """A column for each language of a TMX, that of the source first."""
    name = "{http://www.w3.org/XML/1998/namespace}lang"
    units = [
        {
            node.get(name, node.get("lang", "")): unit.getNodeText(node) or ""
            for node in unit.getlanguageNodes()
        }
        for unit in store.units
    ]
    source = (store.getsourcelanguage() or "").casefold()
    languages = [*dict.fromkeys(chain(*units))]
    languages.sort(key=lambda language: language.casefold() != source)
    yield Row(0, languages)
    for number, unit in enumerate(units, 1):
        yield Row(number, [unit.get(each, "") for each in languages])


def parallel_rows(
    paths: Sequence[Path],
    members: Sequence[Member],
    encoding: str | None = None,
) -> Iterator[Row]:
    """Line i of one file is the translation of line i of the other."""
    sides = []
    for path, member in zip(paths, members, strict=True):
        lines = lines_of(text_of(path, member.data, encoding))
        tabs = sum("\t" in line for line in lines)
        if member.ending in (*CATALOGS, *JSON, ".csv") or 2 * tabs > len(lines):
            raise ValueError(
                f"{path} has pairs, not one sentence a line; give one file of "
                "pairs, or two parallel files"
            )
        sides.append(lines)
    if len(sides[0]) != len(sides[1]):
        raise ValueError(
            f"{paths[0]} has {len(sides[0])} lines, but {paths[1]} has "
            f"{len(sides[1])}; parallel files have equally many"
        )
    for number, columns in enumerate(zip(*sides, strict=True), 1):
        yield Row(number, [*columns])


CODES = re.compile(  # for characters that a program could not write
    r"\\u[0-9a-fA-F]{4}|(\\x[0-9a-f]{2}){2}|([%=][0-9A-F]{2}){3}|\?{3}|锟斤拷|"
    r"&(#\d+|#x[0-9a-fA-F]+|[a-zA-Z](acute|grave|circ|uml|tilde|cedil));"
)


def no_text(values: Sequence[str], copies: int) -> str | None:
    """What a column has if it is not text, or None.

    Text has more than one different value for so many copies.
    """
    values = [value for value in values if value.strip()]

    def nearly_all(found: Iterable[object]) -> bool:
        return sum(map(bool, found)) >= 0.9 * len(values)

    if not values:
        return "empty"
    if 2 * sum(bool(CODES.search(value)) for value in values) > len(values):
        return "codes"
    if nearly_all(not re.search(r"[^\W\d_]", value) for value in values):
        return "numbers"
    if nearly_all(
        re.search(r"CC[- ]BY|https?://|licen[cs]e", value) for value in values
    ):
        return "addresses"
    if nearly_all(
        re.fullmatch(r"<[^<>]+>.*<[^<>]+>", x.strip()) for x in values
    ):
        return "tags"
    if nearly_all(
        re.fullmatch(
            r"[\w.:/#+=-]*\d[\w.:/#+=-]*|[\w-]+([._:/#][\w-]+)+|<[^<>]*>|"
            r"[^\s@]+@[^\s@]+",
            value,
            re.ASCII,
        )
        for value in values
    ):
        return "identifiers"
    if len(values) >= 50 and len({*values}) <= max(1, len(values) // copies):
        return "values"
    return None


def choose_columns(rows: list[Row], asked: str | None, path: Path) -> list[int]:
    """The indices of two columns: those asked for, or the first two.

    Raises ValueError if these are not in the file; and, if they were not
    asked for, for a column without text, and for more than two with names.
    """
    widths = [len(row.columns) for row in rows[:CHECKED]]
    width = max(widths, default=2)
    names = rows[0].columns if rows[0].number == 0 else []
    if asked:
        return asked_columns(asked, rows[0].columns, width, path)
    columns = [
        [
            row.columns[i]
            for row in islice(rows, CHECKED)
            if i < len(row.columns)
        ]
        for i in range(width)
    ]
    copies = 50 if width == 2 else 10
    reasons = [no_text(values, copies) for values in columns]
    texts = [
        names[i] if names else str(i + 1)
        for i, reason in enumerate(reasons)
        if not reason
    ]
    advice = f"; choose two columns, such as --columns {','.join(texts[:2])}"
    for i, reason in enumerate(reasons[:2], 1):
        if reason:
            sample = columns[i - 1][-1][:40]
            raise ValueError(
                f"{path}: column {i} "
                + {
                    "empty": "is empty",
                    "numbers": "has only numbers",
                    "addresses": "has addresses or licenses",
                    "identifiers": "has only identifiers",
                    "codes": f"has codes for characters, as in {sample!r}: "
                    "export it again",
                    "tags": f"has tags, as in {sample!r}",
                    "values": f"has few values, such as {columns[i - 1][0]!r}",
                }[reason]
                + (
                    advice
                    if len(texts) > 1
                    else "; if it is meant, write --columns 1,2"
                    if width == 2 or not texts
                    else f"; only column {texts[0]} has text"
                )
            )
    if names and len(texts) > 2:
        raise ValueError(f"{path}: texts in {', '.join(texts)}{advice}")
    return [0, 1]


def asked_columns(
    asked: str, header: list[str], width: int, path: Path
) -> list[int]:
    names = [name.strip() for name in asked.split(",")]
    found = [
        header.index(name) if name in header else int(name) - 1
        for name in names
        if name in header or name.isdecimal()
    ]
    if (
        len(names) != 2
        or len({*found}) != 2
        or not all(0 <= i < width for i in found)
    ):
        raise ValueError(
            f"{path}: --columns {asked} are not two of its {width} columns"
            + ("" if asked[:1].isdecimal() else f": {', '.join(header)[:80]}")
        )
    return found


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
                parallel_rows(paths, members_of(paths), encoding)
                if len(paths) == 2
                else read_rows(paths[0], encoding)
            )
        ]
    except OSError as error:
        raise ValueError(f"{error.filename}: {error.strerror}") from error
    if not any(any(map(str.strip, row.columns)) for row in rows):
        raise ValueError(f"{paths[0]}: the file is empty")
    chosen = choose_columns(rows, columns, paths[0])
    named = not re.fullmatch(r"[\d\s,]*", columns or "")
    if rows[0].number == 0 or named:
        rows = rows[1:]  # the names of the columns
    found = [
        Row(row.number, [cell(row, chosen[0]), cell(row, chosen[1])])
        for row in rows
    ]
    same = sum(
        source.strip() == target.strip() for _, (source, target) in found
    )
    if same >= 0.9 * len(found):
        raise ValueError(
            f"{paths[0]}: source and target are the same in {same} of "
            f"{len(found)} rows; give the translations"
        )
    return found


def members_of(paths: Sequence[Path]) -> list[Member]:
    """One of each path."""
    found = [read_members(path) for path in paths]
    for path, members in zip(paths, found, strict=True):
        if len(members) > 1:
            raise ValueError(f"{path} has two files; unpack it first")
    return [members[0] for members in found]


def cell(row: Row, i: int) -> str:
    """Of \\N, which databases write for no text, nothing."""
    text = row.columns[i] if i < len(row.columns) else ""
    return "" if text == "\\N" else text
