# --8<-- [start:imports]
"""A corpus of sentence pairs from the translations of well-known programs.

    python catalog_pairs.py catalog_packages.txt
    python train_pairs.py pairs.tsv --columns english,chinese

Downloads the packages that the file lists with pip, which checks their hashes
and installs none of them. Writes pairs.tsv, with the package, the English text
and the Chinese one on each line, and sources.tsv, with the license of each
package and what happened to its texts. Needs Babel: pip install babel
"""

import argparse
import email
import html
import io
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from babel.messages import mofile, pofile

import sentence_pairs
from sentence_pairs import Text

SIMPLIFIED = r"(?i)(?<![^\W_])zh([-_](Hans|CN|Hans[-_]CN))?(?![^\W_]|[-_])"
BREAKS = r"</?(br|p|li|ul|ol|div|hr|h\d)\b[^<>]*>"  # tags between words
PLACEHOLDER = re.compile(
    r"%\([^)]*\)[#0 +.\d-]*[a-z]|%[#0+.\d-]*(?:\d\$)?[a-z]\b|%%|"
    r"\{\{[^{}]*\}\}|\$?\{[^{}]*\}|(?<![\w$])\$[a-z_]\w*",
    re.IGNORECASE | re.ASCII,
)
HAN = re.compile("[\u3400-\u9fff]")


# --8<-- [end:imports]
# --8<-- [start:reading]
def catalog_entries(data: bytes, ending: str) -> Iterator[Text]:
    """The translated messages of a gettext catalog, without fuzzy ones.

    Of singular and plural, the plural, since Chinese has one form.
    """
    read = mofile.read_mo if ending == ".mo" else pofile.read_po
    for message in read(io.BytesIO(data)):
        pair = message.id, message.string
        english, chinese = (x if isinstance(x, str) else x[-1] for x in pair)  # type: ignore[unsupported-operation]
        if english and chinese and not message.fuzzy:
            yield Text(english, chinese)


def leaves(tree: Any, path: tuple[str, ...] = ()) -> dict[tuple, str]:
    """The texts of nested JSON objects, each by its path of keys."""
    if isinstance(tree, str):
        return {path: tree}
    items = tree.items() if isinstance(tree, dict) else ()
    found: dict[tuple, str] = {}
    for key, each in items:
        found |= leaves(each, (*path, key))
    return found


def wheel_entries(path: Path) -> Iterator[Text]:
    """All texts of a wheel that have a translation into simplified Chinese.

    Reads .mo files, .po files without an .mo file beside them, and JSON files
    of keys and texts that have an English file beside them.
    """
    with zipfile.ZipFile(path) as wheel:
        names = {*wheel.namelist()}
        for name in sorted(names):
            stem, dot, ending = name.rpartition(".")
            english = re.sub(SIMPLIFIED, "en", name)
            if english == name:
                continue
            if ending == "mo" or (ending == "po" and f"{stem}.mo" not in names):
                yield from catalog_entries(wheel.read(name), dot + ending)
            elif ending == "json" and english in names:
                texts, translations = (
                    leaves(json.loads(wheel.read(each)))
                    for each in (english, name)
                )
                for key in sorted(texts.keys() & translations.keys()):
                    yield Text(texts[key], translations[key])


def wheel_license(path: Path) -> tuple[str, str, str]:
    """Name, version and license by the metadata of a wheel."""
    with zipfile.ZipFile(path) as wheel:
        name, *_ = (
            name
            for name in wheel.namelist()
            if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)
        )
        metadata = email.message_from_bytes(wheel.read(name))
    classifiers = [
        value.rpartition(" :: ")[2]
        for value in metadata.get_all("Classifier", [])
        if value.startswith("License :: ")
    ]
    found = metadata["License-Expression"] or ", ".join(classifiers)
    found = found or (metadata["License"] or "").strip().partition("\n")[0]
    return metadata["Name"], metadata["Version"], found


# --8<-- [end:reading]
# --8<-- [start:cleaning]
class Entry(NamedTuple):
    """A text of a program and its translation."""

    package: str
    english: str
    chinese: str


def clean(text: str) -> str:
    """Without tags and marks of access keys; each placeholder becomes {}."""
    text = PLACEHOLDER.sub("{}", text)
    text = re.sub(BREAKS, " ", text, flags=re.IGNORECASE)
    text = html.unescape(re.sub(r"</?[a-zA-Z][^<>]*>|`+|\*\*", "", text))
    text = re.sub(r"\s*[(（][_&]\w[)）]", "", text)  # 打开(_O)
    text = re.sub(r"(?<!\w)[_&](?=\w)", "", text)  # _Open, &Open
    return sentence_pairs.clean(text)


def reason_to_drop(pair: Text) -> str | None:
    """Why two clean texts are not used, or None."""
    english, chinese = pair
    both = f"{english} {chinese}"
    if HAN.search(english) or (chinese and not HAN.search(chinese)):
        return "no translation"
    if not re.search("[A-Za-z]{2}", english):
        return "no word"
    if re.search(r"\w[_&]\w|\w/\w+/|://|\w\(\)|\w=\S", both) or re.fullmatch(
        r"[a-z]+([.:-][a-z]+)+", english
    ):
        return "code or address"
    if english.count("{}") != chinese.count("{}"):
        return "other placeholders"
    if re.search(r"[{}<>\\|]", both.replace("{}", "")):
        return "markup"
    return sentence_pairs.reason_to_drop(pair)


def clean_entries(
    entries: Iterable[Entry],
) -> tuple[list[Entry], dict[str, Counter[str]]]:
    """The pairs that remain, and for each package what happened to its texts.

    A pair that several packages have belongs to the first of them.
    """
    found: dict[Text, Entry] = {}
    counts: dict[str, Counter[str]] = {}
    for package, *texts in entries:
        pair = Text(*map(clean, texts))
        reason = "duplicate" if pair in found else reason_to_drop(pair)
        counts.setdefault(package, Counter())[reason or "kept"] += 1
        if not reason:
            found[pair] = Entry(package, *pair)
    return [*found.values()], counts


# --8<-- [end:cleaning]
# --8<-- [start:main]
def download(packages: Path, folder: Path) -> list[Path]:
    """The wheels; ValueError if one is missing or has another hash."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps"]
    command += ["--only-binary", ":all:", "--ignore-requires-python"]
    command += ["--require-hashes", "--quiet", "--dest", str(folder)]
    done = subprocess.run([*command, "--requirement", str(packages)])
    if done.returncode:
        raise ValueError(f"pip ended with {done.returncode}; see its message")
    return sorted(folder.glob("*.whl"))


Table = list[list[str]]


def read_corpus(wheels: Iterable[Path]) -> tuple[list[Entry], Table]:
    """The pairs, and a table of packages: licenses, numbers of texts."""
    sources = {path: wheel_license(path) for path in wheels}
    pairs, counts = clean_entries(
        Entry(name, *texts)
        for path, (name, _, _) in sources.items()
        for texts in wheel_entries(path)
    )
    found = {reason for each in counts.values() for reason in each}
    reasons = ["kept", *sorted(found - {"kept"})]
    table = [["package", "version", "license", *reasons]]
    for name, version, license_name in sources.values():
        numbers = [str(counts[name][reason]) for reason in reasons]
        table.append([name, version, license_name, *numbers])
    return pairs, table


def write_table(path: Path, rows: Iterable[Iterable[str]]) -> None:
    text = "".join("\t".join(row) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def build(packages: Path, out: Path) -> tuple[list[Entry], Table]:
    """Download the packages and write pairs.tsv and sources.tsv."""
    with tempfile.TemporaryDirectory() as folder:
        pairs, table = read_corpus(download(packages, Path(folder)))
    out.mkdir(parents=True, exist_ok=True)
    write_table(out / "pairs.tsv", [Entry._fields, *pairs])
    write_table(out / "sources.tsv", table)
    return pairs, table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("packages", type=Path, help="names, versions, hashes")
    parser.add_argument("--out", type=Path, default=Path(), metavar="FOLDER")
    options = parser.parse_args()
    try:
        pairs, table = build(options.packages, options.out)
    except (ValueError, OSError) as error:
        sys.exit(f"catalog_pairs.py: {error}")
    for name, version, license_name, kept, *_ in table[1:]:
        print(f"{kept:>6}  {name} {version}: {license_name}")
    print(f"{len(pairs):>6}  pairs")


if __name__ == "__main__":
    main()
# --8<-- [end:main]
