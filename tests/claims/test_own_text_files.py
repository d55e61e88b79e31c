"""The files that a training on one's own pairs reads, and those that it refuses."""

import bz2
import gzip
import json
import lzma
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from marks import claim
from sentence_pairs import Text, read_pairs

PAIRS = [(f"I see {i} cats", f"je vois {i} chats") for i in range(400)]
TEXTS = [Text(*pair) for pair in PAIRS]


def rows(*columns: str, separator: str = "\t") -> str:
    """A line for each pair; a column is written with {i}, {a} and {b}."""
    lines = (separator.join(columns).format(i=str(i), a=a, b=b) for i, (a, b) in enumerate(PAIRS))
    return "".join(f"{line}\n" for line in lines)


def zipped(*files: str | bytes) -> bytes:
    """An archive of names and contents, in turn."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, text in zip(files[::2], files[1::2], strict=True):
            file.writestr(str(name), text)
    return buffer.getvalue()


def tmx(*more: str) -> str:
    """The languages are English, French and those named."""
    others = "".join(f'<tuv xml:lang="{each}"><seg>{{}} {each}</seg></tuv>' for each in more)
    units = (
        f'<tu><tuv xml:lang="fr"><seg>{b}</seg></tuv><tuv xml:lang="en"><seg>{a}</seg></tuv>'
        f"{others.format(*[b] * len(more))}</tu>"
        for a, b in PAIRS
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?><tmx version="1.4"><header srclang="en" '
        'segtype="sentence" adminlang="en" o-tmf="x" creationtool="x" creationtoolversion="1" '
        f'datatype="plaintext"/><body>{"".join(units)}</body></tmx>'
    )


def xliff() -> str:
    unit = '<unit id="{i}"><segment><source>{a}</source><target>{b}</target></segment></unit>'
    units = "".join(unit.format(i=i, a=a, b=b) for i, (a, b) in enumerate(PAIRS))
    return (
        '<?xml version="1.0"?><xliff version="2.0" srcLang="en" '
        f'xmlns="urn:oasis:names:tc:xliff:document:2.0"><file id="f">{units}</file></xliff>'
    )


def catalog() -> str:
    header = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
    fuzzy = '#, fuzzy\nmsgid "not"\nmsgstr "sure"\n\nmsgid "not translated"\nmsgstr ""\n\n'
    return header + fuzzy + "".join(f'msgid "{a}"\nmsgstr "{b}"\n\n' for a, b in PAIRS)


PLAIN = rows("{a}", "{b}")
JSON = [{"translation": {"en": a, "fr": b}} for a, b in PAIRS]
READ = {
    "plain.tsv": PLAIN,
    "mark.tsv": "\ufeff" + PLAIN,
    "windows.txt": PLAIN.replace("\n", "\r\n"),
    "utf-16.tsv": PLAIN.encode("utf-16"),
    "utf-16-be without a mark": PLAIN.encode("utf-16-be"),
    "utf-32.tsv": PLAIN.encode("utf-32"),
    "anki.txt": rows("{a}", "{b}", "CC-BY 2.0 (France) Attribution: tatoeba.org #{i}"),
    "quoted.tsv": rows('"{a}"', '"{b}"'),
    "commas.csv": rows('"{a}"', "{b}", separator=","),
    "semicolons.csv": rows("{a}", "{b}", separator=";"),
    "moses.txt": rows("{a}", "{b}", separator=" ||| "),
    "lines.jsonl": "".join(f"{json.dumps(each)}\n" for each in JSON),
    "list.json": json.dumps(PAIRS),
    "notes of Anki.txt": f"#separator:tab\n#html:false\n{PLAIN}",
    "notes with commas.txt": "#separator:comma\n" + rows("{a}", "{b}", separator=","),
    "lists.json": json.dumps(dict(zip(("en", "fr"), zip(*PAIRS, strict=True), strict=True))),
    "bars.csv": rows("{a}", "{b}", separator="|"),
    "texts.json": json.dumps(dict(PAIRS), indent=1),
    "memory.tmx": tmx(),
    "catalog.po": catalog(),
    "texts.xliff": xliff(),
    "plain.tsv.gz": gzip.compress(PLAIN.encode()),
    "plain.tsv.bz2": bz2.compress(PLAIN.encode()),
    "plain.tsv.xz": lzma.compress(PLAIN.encode()),
    "plain.tsv.lzma": lzma.compress(PLAIN.encode(), lzma.FORMAT_ALONE),
    "twice.tsv.gz.bz2": bz2.compress(gzip.compress(PLAIN.encode())),
    "plain.zip": zipped("plain.tsv", PLAIN),
    "opus.zip": zipped("x.en", rows("{a}"), "x.fr", rows("{b}"), "README", "x", "x.ids", "x"),
}


def write(folder: Path, name: str, data: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@claim("own-text#formats")
@pytest.mark.parametrize("name", READ)
def test_common_files_are_read(tmp_path, name):
    pairs, _ = read_pairs(write(tmp_path, name, READ[name]))
    assert pairs == TEXTS


@claim("own-text#formats")
def test_chinese_in_utf_16_without_a_mark_is_read(tmp_path):
    data = "".join(f"猫很好{i}\t我看见猫{i}\n" for i in range(99)).encode("utf-16-le")
    assert read_pairs(write(tmp_path, "zh.tsv", data))[0][0] == Text("猫很好0", "我看见猫0")


@claim("own-text#formats")
def test_two_parallel_files_are_read(tmp_path):
    source = write(tmp_path, "corpus.en", rows("{a}"))
    target = write(tmp_path, "corpus.fr", rows("{b}"))
    assert read_pairs(source, target)[0] == TEXTS
    shorter = write(tmp_path, "shorter.fr", rows("{b}").split("\n", 1)[1])
    with pytest.raises(ValueError, match=r"has 400 lines, but .*has 399; parallel files"):
        read_pairs(source, shorter)


EXPORTS = {  # each with the columns of its texts
    "numbers": (("{i}", "{a}", "{i}", "{b}"), "2,4"),
    "a license": (("{a}", "CC-BY 2.0 (France) #{i}", "{b}"), "1,3"),
    "a user": (("user {i[0]}", "{a}", "{b}"), "2,3"),
    "a key": (("menu.item_{i}", "{a}", "{b}"), "2,3"),
    "a tag": (("<s id={i}>", "{a}", "{b}"), "2,3"),
    "an address": (("https://example.org/{i}", "{a}", "{b}"), "2,3"),
}


@claim("own-text#formats")
@pytest.mark.parametrize("name", EXPORTS)
def test_columns_without_text_are_refused_and_others_proposed(tmp_path, name):
    columns, proposed = EXPORTS[name]
    path = write(tmp_path, "export.tsv", rows(*columns))
    with pytest.raises(ValueError, match=rf"column \d .*, such as --columns {proposed}$"):
        read_pairs(path)
    assert read_pairs(path, columns=proposed)[0] == TEXTS


@claim("own-text#formats")
def test_the_languages_of_a_translation_memory_are_columns(tmp_path):
    path = write(tmp_path, "memory.tmx", tmx("de", "it"))
    with pytest.raises(ValueError, match=r"texts in en, fr, de, it; .* --columns en,fr"):
        read_pairs(path)
    assert read_pairs(path, columns="en,fr")[0] == TEXTS
    assert read_pairs(path, columns="en,de")[0][0].target == f"{PAIRS[0][1]} de"


@claim("own-text#formats")
@pytest.mark.parametrize("encoding", ["cp1252", "gb18030"])
def test_a_text_that_was_read_in_another_encoding_is_refused(tmp_path, encoding):
    data = "".join(f"I see {i}\tj'ai été à côté {i}\n" for i in range(120))
    assert len(read_pairs(write(tmp_path, "good.tsv", data))[0]) == 120
    path = write(tmp_path, "bad.tsv", data.encode().decode(encoding))
    with pytest.raises(ValueError, match=r"bad\.tsv was UTF-8, but a program read it"):
        read_pairs(path)


@claim("own-text#file")
def test_pairs_with_damaged_characters_are_dropped(tmp_path):
    data = PLAIN + "a caf\ufffd\tun caf\u00e9\na b\x01\tc d\ne f\tg\x9d\n\x1b[1mred\trouge\n"
    pairs, dropped = read_pairs(write(tmp_path, "pairs.tsv", data))
    assert pairs == [*TEXTS, Text("\x1b[1mred", "rouge")]
    assert dropped == {"damaged character": [401, 402, 403]}


REFUSED = {
    "tatoeba.tsv": (rows("{i}", "eng", "{a}"), "column 1 has only numbers; only column 3 has text"),
    "one source.tsv": (rows("hi", "{b}"), "column 1 has few values, such as 'hi'"),
    "gb18030.tsv": ("I\t我\n".encode("gb18030"), r":1: byte 3 of the line, 0xce, .*--encoding"),
    "same.tsv": (rows("{a}", "{a}"), "source and target are the same in 400 of 400 rows"),
    "codes.tsv": (
        rows("{a}", "\\u5e94{i}"),
        r"column 2 has codes for characters, as in '\\\\u5e94",
    ),
    "entities.tsv": (rows("{a}", "&#24212;{i}"), "column 2 has codes for characters"),
    "lost.tsv": (rows("{a}", "???{i}"), "column 2 has codes for characters"),
    "cut off.tsv.gz": (gzip.compress(PLAIN.encode())[:300], "is damaged"),
}


@claim("own-text#formats")
@pytest.mark.parametrize("name", REFUSED)
def test_other_files_are_refused_with_the_reason(tmp_path, name):
    data, message = REFUSED[name]
    with pytest.raises(ValueError, match=message) as raised:
        read_pairs(write(tmp_path, name, data))
    assert str(tmp_path / name) in str(raised.value) and "\n" not in str(raised.value)


@claim("own-text#formats")
def test_columns_have_the_names_of_a_first_row(tmp_path):
    data = "id,en,fr\n" + rows("{i}", "{a}", "{b}", separator=",")
    path = write(tmp_path, "named.csv", data)
    for columns in "en,fr", " 2, fr", "en,3":
        assert read_pairs(path, columns=columns)[0] == TEXTS


@claim("own-text#formats")
def test_an_encoding_may_be_named(tmp_path):
    path = write(tmp_path, "gb.tsv", "I see\t我看见\n".encode("gb18030"))
    assert read_pairs(path, encoding="gb18030")[0] == [Text("I see", "我看见")]
