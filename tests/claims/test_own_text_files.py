"""The files that a training on one's own pairs reads, and those that it refuses."""

import bz2
import gzip
import json
import lzma
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from marks import claim, mutation
from pair_files import read_columns
from sentence_pairs import Text, read_pairs

CHAPTER = "own-text"

PAIRS = [(f"I see {i} cats", f"je vois {i} chats") for i in range(400)]
TEXTS = [Text(*pair) for pair in PAIRS]


def rows(*columns: str, separator: str = "\t") -> str:
    """A line for each pair; a column is written with {i}, {a} and {b}."""
    lines = (separator.join(columns).format(i=i, a=a, b=b) for i, (a, b) in enumerate(PAIRS))
    return "".join(f"{line}\n" for line in lines)


def zipped(name: str, text: str) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr(name, text)
    return buffer.getvalue()


def tmx() -> str:
    units = (
        f'<tu><tuv xml:lang="en"><seg>{a}</seg></tuv><tuv xml:lang="fr"><seg>{b}</seg></tuv></tu>'
        for a, b in PAIRS
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?><tmx version="1.4"><header srclang="en" '
        'segtype="sentence" adminlang="en" o-tmf="x" creationtool="x" creationtoolversion="1" '
        f'datatype="plaintext"/><body>{"".join(units)}</body></tmx>'
    )


def catalog() -> str:
    header = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
    fuzzy = '#, fuzzy\nmsgid "not"\nmsgstr "sure"\n\nmsgid "not translated"\nmsgstr ""\n\n'
    return header + fuzzy + "".join(f'msgid "{a}"\nmsgstr "{b}"\n\n' for a, b in PAIRS)


PLAIN = rows("{a}", "{b}")
JSON = [{"translation": {"en": a, "fr": b}} for a, b in PAIRS]
READ = {
    "plain.tsv": PLAIN,
    "no final line end.tsv": PLAIN.rstrip("\n"),
    "mark.tsv": "\ufeff" + PLAIN,
    "windows.txt": PLAIN.replace("\n", "\r\n"),
    "old mac.tsv": PLAIN.replace("\n", "\r"),
    "utf-16.tsv": PLAIN.encode("utf-16"),
    "utf-16-le without a mark": PLAIN.rstrip("\n").encode("utf-16-le"),
    "utf-16-be without a mark": PLAIN.encode("utf-16-be"),
    "utf-32.tsv": PLAIN.encode("utf-32"),
    "utf-32-le without a mark": PLAIN.encode("utf-32-le"),
    "anki.txt": rows("{a}", "{b}", "CC-BY 2.0 (France) Attribution: tatoeba.org #{i}"),
    "quoted.tsv": rows('"{a}"', '"{b}"'),
    "commas.csv": rows('"{a}"', "{b}", separator=","),
    "semicolons.csv": rows("{a}", "{b}", separator=";"),
    "moses.txt": rows("{a}", "{b}", separator=" ||| "),
    "lines.jsonl": "".join(f"{json.dumps(each)}\n" for each in JSON),
    "list.json": json.dumps(PAIRS),
    "memory.tmx": tmx(),
    "catalog.po": catalog(),
    "plain.tsv.gz": gzip.compress(PLAIN.encode()),
    "plain.tsv.bz2": bz2.compress(PLAIN.encode()),
    "plain.tsv.xz": lzma.compress(PLAIN.encode()),
    "plain.zip": zipped("plain.tsv", PLAIN),
}


def write(folder: Path, name: str, data: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@claim("own-text#formats")
@mutation(
    "pair_files.py",
    'if "\\0" not in text and',
    "if False and",
    fault="UTF-16 without a mark is read as UTF-8",
)
@pytest.mark.parametrize("name", READ)
def test_common_files_are_read(tmp_path, name):
    pairs, _ = read_pairs(write(tmp_path, name, READ[name]))
    assert pairs == TEXTS


@claim("own-text#formats")
@mutation(
    "pair_files.py",
    '"utf-16-le", "utf-16-be"',
    '"utf-16-be",',
    fault="UTF-16 with the low byte first is read as UTF-8",
)
def test_chinese_in_utf_16_without_a_mark_is_read(tmp_path):
    data = "".join(f"猫很好{i}\t我看见猫{i}\n" for i in range(99)).encode("utf-16-le")
    assert read_pairs(write(tmp_path, "zh.tsv", data))[0][0] == Text("猫很好0", "我看见猫0")


@claim("own-text#formats")
@mutation(
    "pair_files.py",
    "if len(sides[0]) != len(sides[1]):",
    "if False:",
    fault="sentences are paired with others if a line is missing",
)
def test_two_parallel_files_are_read(tmp_path):
    source = write(tmp_path, "corpus.en", rows("{a}"))
    target = write(tmp_path, "corpus.fr", rows("{b}"))
    assert read_pairs(source, target)[0] == TEXTS
    shorter = write(tmp_path, "shorter.fr", rows("{b}").split("\n", 1)[1])
    with pytest.raises(ValueError, match=r"has 400 lines, but .*has 399; parallel files"):
        read_pairs(source, shorter)
    with pytest.raises(ValueError, match="one file or two parallel ones, got 3"):
        read_columns([source, target, target])


CHOSEN = {
    "2,4": rows("{i}", "{a}", "{i}", "{b}"),
    "1,3": rows("{a}", "CC-BY 2.0 (France) #{i}", "{b}"),
    "3,4": rows("eng", "fra", "{a}", "{b}"),
    "2,3": rows("0.{i}", "{a}", "{b}"),
}


@claim("own-text#formats")
@mutation(
    "pair_files.py",
    "if reason:\n            texts",
    "if False:\n            texts",
    fault="a translator of sentence numbers is trained without a word",
)
@pytest.mark.parametrize("columns", CHOSEN)
def test_columns_without_text_are_refused_and_others_proposed(tmp_path, columns):
    path = write(tmp_path, "export.tsv", CHOSEN[columns])
    with pytest.raises(ValueError, match=rf"column \d .*, such as --columns {columns}$"):
        read_pairs(path)
    assert read_pairs(path, columns=columns)[0] == TEXTS


REFUSED = {
    "tatoeba.tsv": (rows("{i}", "eng", "{a}"), "column 1 has only numbers; if it is meant"),
    "identifiers.tsv": (rows("tt-{i}", "{a}"), "column 1 has only identifiers"),
    "one source.tsv": (rows("hi", "{b}"), "column 1 has few values, such as 'hi'"),
    "addresses.tsv": (rows("{a}", "https://a.b/{i}"), "column 2 has addresses or licenses"),
    "one column.tsv": (rows("{a}"), r":1: one column; .*two parallel files"),
    "one column.csv": (rows("{a}"), r":1: one column; a row has"),
    "middle.tsv": (PLAIN.replace("200 cats\t", "200 cats "), ":201: one column"),
    "empty.tsv": ("", "the file is empty"),
    "nul.tsv": (PLAIN.replace("200 cats", "\0"), ":201: a NUL character"),
    "zeros.tsv": (b"\0" * 4096, ":1: a NUL character"),
    "gb18030.tsv": ("I\t我\n".encode("gb18030"), r":1: byte 3 of the line, 0xce, .*--encoding"),
    "surrogate.tsv": (PLAIN.encode() + b"a\xed\xa0\x80\tb\n", ":401: byte 2 of the line, 0xed"),
    "cut off.tsv.gz": (gzip.compress(PLAIN.encode())[:300], "is damaged"),
    "two.zip": (b"PK\x03\x04", "is damaged"),
    "sheet.xlsx": (zipped("[Content_Types].xml", ""), "is a document or a spreadsheet"),
    "broken.jsonl": ('{"en": "a",\n', ":1: "),
    "numbers.jsonl": ("1\n", "entry 1 is neither list nor object"),
    "broken.tmx": ("<tmx>", "can't be read"),
}


@claim("own-text#formats")
@mutation(
    "pair_files.py",
    '    if "\\0" in text:',
    "    if False:",
    fault="NUL characters become a part of the text",
)
@pytest.mark.parametrize("name", REFUSED)
def test_other_files_are_refused_with_the_reason(tmp_path, name):
    data, message = REFUSED[name]
    with pytest.raises(ValueError, match=message) as raised:
        read_pairs(write(tmp_path, name, data))
    assert str(tmp_path / name) in str(raised.value) and "\n" not in str(raised.value)


@claim("own-text#formats")
@mutation(
    "pair_files.py",
    "all(0 <= i < width for i in found)",
    "True",
    fault="the last column is taken for column 0",
)
@pytest.mark.parametrize("columns", ["1,5", "1", "0,1", "-1,1", "en,fr", "1,2,3", ""])
def test_columns_that_the_file_lacks_are_refused(tmp_path, columns):
    path = write(tmp_path, "plain.tsv", PLAIN)
    if not columns:
        assert read_pairs(path, columns=columns)[0] == TEXTS
        return
    with pytest.raises(ValueError, match=f"--columns {columns} are not two of its 2 columns"):
        read_pairs(path, columns=columns)


@claim("own-text#formats")
@mutation(
    "pair_files.py",
    "rows = rows[1:]  # the names of the columns",
    "pass",
    fault="the names of the columns are a pair",
)
def test_columns_have_the_names_of_a_first_row(tmp_path):
    data = "id,en,fr\n" + rows("{i}", "{a}", "{b}", separator=",")
    assert read_pairs(write(tmp_path, "named.csv", data), columns="en,fr")[0] == TEXTS


@claim("own-text#formats")
@mutation(
    "pair_files.py",
    "encoding = encoding or encoding_of(data)",
    "encoding = encoding_of(data)",
    fault="the encoding that is named is not used",
)
def test_an_encoding_may_be_named(tmp_path):
    path = write(tmp_path, "gb.tsv", "I see\t我看见\n".encode("gb18030"))
    assert read_pairs(path, encoding="gb18030")[0] == [Text("I see", "我看见")]
    with pytest.raises(ValueError, match="there is no encoding 'gb1'"):
        read_pairs(path, encoding="gb1")
