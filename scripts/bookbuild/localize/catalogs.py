"""The gettext catalogs in snippets/zh/, keyed by the English words of the snippets and labs."""

import functools
import io
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import PoFileError, read_po, write_po

from bookbuild.localize.texts import Text, find_texts
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.labs.notebooks import python_source

HEADER = (
    'msgid ""\nmsgstr ""\n"Language: zh_CN\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
)
PROGRAMS = ("examples", "exercises", "pitfalls", "labs")  # all their strings may be printed
Translations = dict[str, str]


def snippet_files() -> list[Path]:
    """The code that readers see, without the labs."""
    return sorted([*paths.SNIPPETS.rglob("*.py"), *paths.SNIPPETS.glob("*.js")])


def lab_files() -> list[Path]:
    """The labs in English."""
    return sorted((paths.DOCS / "en" / "labs").glob("*.ipynb"))


def code_files() -> list[Path]:
    """All files whose words the catalogs have."""
    return [*snippet_files(), *lab_files()]


def read_code(path: Path) -> str:
    """The code of a snippet or lab; a line of it has the same number in the file."""
    is_lab = path.suffix == ".ipynb"
    return python_source(path) if is_lab else path.read_text(encoding="utf-8")


def catalog_path(snippet: Path) -> Path:
    """One for each module, for the examples and exercises of each chapter, and for the labs."""
    is_module = snippet.parent == paths.SNIPPETS
    name = snippet.stem if is_module else snippet.parent.name
    return paths.SNIPPETS / "zh" / f"{name}.po"


def read_catalog(path: Path) -> Catalog:
    """An empty catalog if there is no file. Raises SourceError if it is invalid."""
    return parse_catalog(path, path.read_bytes() if path.exists() else b"")


@functools.lru_cache(maxsize=128)
def parse_catalog(path: Path, content: bytes) -> Catalog:
    try:
        return read_po(io.BytesIO(content), locale="zh_CN", abort_invalid=True)
    except PoFileError as error:
        message = f"invalid catalog: {error}; correct it"
        raise SourceError(path, (error.lineno or 0) + 1, message) from None


def is_needed(text: Text, snippet: Path, catalog: Catalog) -> bool:
    """Whether it needs a Chinese version: signs, and a module's label, if the catalog has one."""
    is_program = file_name(snippet).partition("/")[0] in PROGRAMS
    is_optional = text.kind == "signs" or (text.kind == "label" and not is_program)
    return not is_optional or text.words in catalog


def translations(snippet: Path) -> Translations:
    """The Chinese words of a file by the English; without those to be reviewed.

    An entry with the file's name as its context is for this file alone.
    """
    entries = [entry for entry in read_catalog(catalog_path(snippet)) if not entry.fuzzy]
    return {
        str(entry.id): str(entry.string)
        for context in (None, file_name(snippet))
        for entry in entries
        if entry.id and entry.string and entry.context == context
    }


def file_name(snippet: Path) -> str:
    """Its name in a catalog: examples/masks/both.py, labs/look-inside.ipynb."""
    is_lab = snippet.suffix == ".ipynb"
    return snippet.relative_to(paths.DOCS / "en" if is_lab else paths.SNIPPETS).as_posix()


def update_catalogs() -> Iterator[str]:
    """Add new words to the catalogs and remove old ones; yields what is still to be translated.

    A changed text keeps its Chinese as a proposal, marked as fuzzy: review it, remove the mark.
    """
    templates: dict[Path, Catalog] = {}
    for snippet in code_files():
        path = catalog_path(snippet)
        old, template = read_catalog(path), templates.setdefault(path, Catalog(locale="zh_CN"))
        for text in find_texts(read_code(snippet), snippet.suffix):
            if is_needed(text, snippet, old):
                name = file_name(snippet)
                context = name if old.get(text.words, name) else None
                template.add(text.words, locations=[(name, text.start[0])], context=context)
    for path, template in templates.items():
        catalog = read_catalog(path)
        catalog.update(template)
        file = io.BytesIO()
        write_po(file, catalog, 100, omit_header=True, ignore_obsolete=True, include_lineno=False)
        write_file(path, HEADER + file.getvalue().decode().rstrip("\n") + "\n")
        count = sum(not entry.string or entry.fuzzy for entry in catalog if entry.id)
        if count:
            yield f"snippets/zh/{path.name}: to translate or review: {count}"
