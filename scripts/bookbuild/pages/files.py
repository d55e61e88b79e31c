"""Reading and writing text files: encodings, YAML, atomic writes."""

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError

LINE_KEY = "line"  # where a mapping stands in its file


class LineNumberLoader(yaml.BaseLoader):
    """Reads texts as they stand, Yes and 16 too; notes with each mapping its first line."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        return super().construct_mapping(node, deep) | {LINE_KEY: node.start_mark.line + 1}


PARTIAL_SUFFIX = ".part"  # how the name of a file ends that is being written
TEXT_SUFFIXES = (".bib", ".ipynb", ".js", ".json", ".md", ".py", ".yml")


def line_number(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def encoding_errors() -> Iterator[SourceError]:
    """Files that can't be read as what they are; to be asked before anything reads them."""
    for folder in (
        paths.DOCS,
        paths.SNIPPETS,
        paths.SCRIPTS / "figures",
        paths.ROOT / "tests" / "snippets",
    ):
        for path in sorted(each for each in folder.rglob("*") if each.suffix in TEXT_SUFFIXES):
            if path.is_symlink() and not path.exists():
                what = f"is a link to {os.readlink(path)}, which isn't there; mend it or remove it"
                yield SourceError(path, 1, what)
            elif path.is_file():
                yield from byte_errors(path, path.read_bytes())
                if path.suffix == ".ipynb":
                    yield from notebook_json_errors(path)


def byte_errors(path: Path, data: bytes) -> Iterator[SourceError]:
    """UTF-8 with bare line feeds is what everything here reads."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        yield SourceError(path, line, "is not in UTF-8; save it so, whatever your editor calls it")
    if data.startswith(b"\xef\xbb\xbf"):
        yield SourceError(path, 1, "begins with a byte order mark; save it as UTF-8 without BOM")
    if b"\r\n" in data:
        line = data.count(b"\n", 0, data.index(b"\r\n")) + 1
        how = "save it with LF, and let Git keep that: git config core.autocrlf input"
        yield SourceError(path, line, f"lines end with CRLF; {how}")


def notebook_json_errors(path: Path) -> Iterator[SourceError]:
    try:
        notebook = json.loads(path.read_bytes())
        [cell["id"] for cell in notebook["cells"]]
    except json.JSONDecodeError as error:
        how = "git restore it, or save it anew in Jupyter"
        yield SourceError(path, error.lineno, f"is no whole notebook: {error.msg}; {how}")
    except (KeyError, TypeError):
        yield SourceError(
            path, 1, "is no notebook of Jupyter with ids of cells; save it anew there"
        )
    except UnicodeDecodeError:
        pass  # told by byte_faults


def parse_yaml(path: Path, text: str, first: int = 1) -> object:
    """What a file says, or its front matter that begins at a line. Raises Fault."""
    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        raise yaml_error(path, error, first) from None
    except yaml.reader.ReaderError as error:
        what = f"no YAML: {error.reason}; remove the character #x{error.character:04x}"
        raise SourceError(path, first + text.count("\n", 0, error.position), what) from None


def yaml_error(path: Path, error: yaml.MarkedYAMLError, first: int = 1) -> SourceError:
    # A bracket is told where it opens.
    mark = error.context_mark if "flow" in (error.context or "") else error.problem_mark
    how = 'a text with ": " in it, or one of [ { & * at its beginning, stands between quotes'
    return SourceError(path, first + (mark.line if mark else 0), f"no YAML: {error.problem}; {how}")


def write_file(path: Path, text: str | bytes) -> None:
    """Write a file whole or not at all, and only if its bytes change."""
    data = text.encode() if isinstance(text, str) else text
    if path.exists() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, part = tempfile.mkstemp(PARTIAL_SUFFIX, dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException as error:  # a full disk, or Ctrl-C
        os.unlink(part)
        if isinstance(error, OSError):
            error.filename = str(path)
        raise
