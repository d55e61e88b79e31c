"""Reading and writing text files: encodings, YAML, atomic writes."""

import functools
import json
import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError

FAST_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # C is six times faster
Keys = tuple[str, ...]
PARTIAL_SUFFIX = ".part"  # of the temporary file that write_file renames
TEXT_SUFFIXES = (".bib", ".ipynb", ".js", ".json", ".md", ".po", ".py", ".yml")
TEXT_FOLDERS = ("docs", "snippets", "scripts/figures", "tests/claims")
ENCODING_MESSAGES = {
    r"\A\ufeff": "starts with a byte order mark; save it as UTF-8 without BOM",
    r"[\udc80-\udcff]": "is not valid UTF-8; save the file as UTF-8",
    r"\r\n": "has CRLF line endings; save it with LF, and run git config core.autocrlf input",
}


class Text(str):
    """A text of a YAML file, and its line."""

    line: int


class Entry(dict):
    """A mapping of a YAML file, and its line."""

    line: int


class LineNumberLoader(FAST_LOADER):
    """Loads every scalar as a Text and every mapping as an Entry."""

    def construct_scalar(self, node: yaml.ScalarNode) -> Text:
        text = Text(super().construct_scalar(node))
        text.line = node.start_mark.line + 1
        return text

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Entry:
        entry = Entry(super().construct_mapping(node, deep))
        entry.line = node.start_mark.line + 1
        return entry


def read_text(path: Path) -> str:
    """The text of a file, read again only when the file has changed."""
    status = path.stat()
    return read_version(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=4096)
def read_version(path: Path, modified_ns: int, size: int) -> str:
    return path.read_text(encoding="utf-8")


def line_number(text: str, position: int) -> int:
    """The 1-based line number of a character position."""
    return text.count("\n", 0, position) + 1


def blank(match: re.Match[str]) -> str:
    """Spaces in place of a match, so that all positions and lines stay the same."""
    return re.sub(r"[^\n]", " ", match[0])


def check_encodings() -> None:
    """Raise SourceError if a source file can't be read; call it before anything else reads them."""
    files = (path for folder in TEXT_FOLDERS for path in (paths.ROOT / folder).rglob("*"))
    for path in sorted(path for path in files if path.suffix in TEXT_SUFFIXES):
        if path.is_symlink() and not path.exists():
            message = f"broken symbolic link to {os.readlink(path)}; fix or remove it"
            raise SourceError(path, 1, message)
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "surrogateescape")
            for pattern, message in ENCODING_MESSAGES.items():
                if match := re.search(pattern, text):
                    raise SourceError(path, line_number(text, match.start()), message)
            if path.suffix == ".ipynb":
                check_json(path, text)


def check_json(path: Path, text: str) -> None:
    """Raise SourceError if a notebook is not valid JSON, or if its cells have no ids."""
    try:
        [cell["id"] for cell in json.loads(text)["cells"]]
    except json.JSONDecodeError as error:
        hint = "run git restore, or save it again in Jupyter"
        message = f"invalid notebook: {error.msg}; {hint}"
        raise SourceError(path, error.lineno, message) from None
    except (KeyError, TypeError):
        message = "invalid notebook: no cells with ids; save it again in Jupyter"
        raise SourceError(path, 1, message) from None


def parse_yaml(path: Path, text: str, first_line: int = 1) -> object:
    """Parse YAML that begins at a line of a file, with every scalar as a Text.

    Raises SourceError if it is invalid.
    """
    with suppress(yaml.YAMLError):
        return yaml.load(text, LineNumberLoader)
    try:  # again, because the fast loader's messages are less precise
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        # An unclosed bracket is reported where it opens.
        mark = error.context_mark if "flow" in (error.context or "") else error.problem_mark
        line = mark.line if mark else 0
        message = f'{error.problem}; quote a text that contains ": " or starts with [ {{ & or *'
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position)
        message = f"{error.reason}; remove the character #x{error.character:04x}"
    raise SourceError(path, first_line + line, f"invalid YAML: {message}")


def load_yaml(path: Path) -> object:
    """The content of a YAML file. Raises SourceError if it is invalid."""
    return parse_file(path, read_text(path))


parse_file = functools.lru_cache(parse_yaml)


def load_entries(path: Path, required: Keys, optional: Keys = ()) -> list[Entry]:
    """The entries of a YAML list, each with all required texts and no unknown key.

    Raises SourceError for the first invalid one.
    """
    entries = load_yaml(path)
    if not isinstance(entries, list) or not entries:
        raise SourceError(path, 1, f"not a list of entries; begin each with - {required[0]}: TEXT")
    return [check_entry(path, entry, required, optional) for entry in entries]


def check_entry(path: Path, entry: object, required: Keys, optional: Keys = ()) -> Entry:
    """The entry, if it has all required texts and no unknown key. Raises SourceError otherwise."""
    keys = ", ".join(required)
    if not isinstance(entry, Entry):
        line = getattr(entry, "line", 1)
        raise SourceError(path, line, f"invalid entry {entry!r}; write one with {keys}")
    for key in required:
        if not isinstance(entry.get(key), Text) or not entry[key].strip():
            raise SourceError(path, entry.line, f"entry without {key}; each needs {keys}")
    for key in entry:
        if key not in (*required, *optional):
            known = ", ".join((*required, *optional))
            raise SourceError(path, key.line, f"unknown key {key}; use one of {known}")
    return entry


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file atomically, and only if its content changes."""
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(PARTIAL_SUFFIX, dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException as error:  # a full disk, or Ctrl-C
        os.unlink(temporary)
        if isinstance(error, OSError):
            error.filename = str(path)
        raise
