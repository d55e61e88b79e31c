"""Reading and writing text files: encodings, YAML, atomic writes."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import yaml

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError

FAST_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times faster, if PyYAML has it
LINE_KEY = "line"  # LineNumberLoader adds it to each mapping


class LineNumberLoader(yaml.BaseLoader):
    """Loads every scalar as a string and adds its line number to each mapping."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        return super().construct_mapping(node, deep) | {LINE_KEY: node.start_mark.line + 1}


PARTIAL_SUFFIX = ".part"  # of the temporary file that write_file renames
TEXT_SUFFIXES = (".bib", ".ipynb", ".js", ".json", ".md", ".py", ".yml")


def line_number(text: str, position: int) -> int:
    """The 1-based line number of a character position."""
    return text.count("\n", 0, position) + 1


def encoding_errors() -> Iterator[SourceError]:
    """Source files that can't be read; check before anything else reads them."""
    for folder in (
        paths.DOCS,
        paths.SNIPPETS,
        paths.SCRIPTS / "figures",
        paths.ROOT / "tests" / "snippets",
    ):
        for path in sorted(path for path in folder.rglob("*") if path.suffix in TEXT_SUFFIXES):
            if path.is_symlink() and not path.exists():
                message = f"broken symbolic link to {os.readlink(path)}; fix or remove it"
                yield SourceError(path, 1, message)
            elif path.is_file():
                yield from text_encoding_errors(path, path.read_bytes())
                if path.suffix == ".ipynb":
                    yield from notebook_json_errors(path)


def text_encoding_errors(path: Path, data: bytes) -> Iterator[SourceError]:
    """Text that is not UTF-8 without a byte order mark, with LF line endings."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        yield SourceError(path, line, "is not valid UTF-8; save the file as UTF-8")
    if data.startswith(b"\xef\xbb\xbf"):
        yield SourceError(path, 1, "starts with a byte order mark; save it as UTF-8 without BOM")
    if b"\r\n" in data:
        line = data.count(b"\n", 0, data.index(b"\r\n")) + 1
        hint = "save it with LF, and run git config core.autocrlf input"
        yield SourceError(path, line, f"has CRLF line endings; {hint}")


def notebook_json_errors(path: Path) -> Iterator[SourceError]:
    """A notebook that is not valid JSON, or whose cells have no ids."""
    try:
        notebook = json.loads(path.read_bytes())
        [cell["id"] for cell in notebook["cells"]]
    except json.JSONDecodeError as error:
        hint = "run git restore, or save it again in Jupyter"
        yield SourceError(path, error.lineno, f"invalid notebook: {error.msg}; {hint}")
    except (KeyError, TypeError):
        message = "invalid notebook: no cells with ids; save it again in Jupyter"
        yield SourceError(path, 1, message)
    except UnicodeDecodeError:
        pass  # reported by text_encoding_errors


def parse_yaml(path: Path, text: str, first_line: int = 1) -> object:
    """Parse YAML that begins at a line of a file. Raises SourceError if it is invalid."""
    with suppress(yaml.YAMLError):
        return yaml.load(text, FAST_LOADER)
    try:  # again, because the fast loader's messages are less precise
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        raise yaml_error(path, error, first_line) from None
    except yaml.reader.ReaderError as error:
        message = f"invalid YAML: {error.reason}; remove the character #x{error.character:04x}"
        line = first_line + text.count("\n", 0, error.position)
        raise SourceError(path, line, message) from None


def yaml_error(path: Path, error: yaml.MarkedYAMLError, first_line: int = 1) -> SourceError:
    """The parser's error, at the line of the cause."""
    # An unclosed bracket is reported where it opens.
    mark = error.context_mark if "flow" in (error.context or "") else error.problem_mark
    hint = 'quote a text that contains ": " or starts with [ { & or *'
    line = first_line + (mark.line if mark else 0)
    return SourceError(path, line, f"invalid YAML: {error.problem}; {hint}")


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
