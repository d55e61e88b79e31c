"""The files that a reader needs beside the blocks of a page: the snippets that these import."""

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

from bookbuild.localize.build import chinese_path
from bookbuild.pages import paths
from bookbuild.pages.files import write_file
from bookbuild.pages.page import CODE_FENCE, INCLUDE
from bookbuild.pages.sections import without_section_markers
from bookbuild.pages.templates import render
from bookbuild.run import recorded
from bookbuild.run.jobs import dependencies

# In snippets/results/; no example reads them.
UNREAD_RESULTS = ("claims.json", recorded.FILE)
ZIP = "downloads/transformer-line-by-line.zip"
FEW_FILES = 3  # more are folded
PROGRAM_FOLDERS = ("examples/", "exercises/", "pitfalls/")
EXERCISES = re.compile(r"^## .*\{ *#exercises *\}\n", re.M)


def downloadable_snippets() -> list[Path]:
    """The snippets that a reader needs beside a copied code block."""
    patterns = "*.py", "variants/*.py", "*.js", "*.txt", "*.json", "results/*.json", "*.safetensors"
    found = [path for pattern in patterns for path in paths.SNIPPETS.glob(pattern)]
    return sorted(path for path in found if path.name not in UNREAD_RESULTS)


def zip_path(language: str) -> Path:
    """The archive of all code in a language."""
    return (paths.GENERATED if language == "en" else paths.GENERATED / language) / ZIP


def write_zip(language: str) -> None:
    """Write the archive: the downloads, and the programs on the pages in their folders."""
    programs = [path for name in PROGRAM_FOLDERS for path in (paths.SNIPPETS / name).rglob("*.py")]
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in sorted(file_contents([*downloadable_snippets(), *programs], language)):
            entry = zipfile.ZipInfo(name)  # without a time, so that the bytes stay the same
            entry.external_attr = 0o644 << 16
            is_text = not name.endswith(".safetensors")  # weights stay nearly as large
            entry.compress_type = zipfile.ZIP_DEFLATED if is_text else zipfile.ZIP_STORED
            archive.writestr(entry, data)
    write_file(zip_path(language), content.getvalue())


def file_contents(snippets: list[Path], language: str) -> Iterator[tuple[str, str | bytes]]:
    """The names and the contents of snippets as readers download them."""
    for snippet in snippets:
        is_code = snippet.suffix in (".py", ".js")
        path = chinese_path(snippet) if is_code and language == "zh" else snippet
        name = snippet.relative_to(paths.SNIPPETS).as_posix()
        yield name, without_section_markers(path) if is_code else path.read_bytes()


def needed_files(program: Path, downloads: set[Path]) -> list[str]:
    """The names in downloads/ of all that a program imports or reads."""
    needed = dependencies(program) & downloads
    return sorted(path.relative_to(paths.SNIPPETS).as_posix() for path in needed)


def needing_blocks(text: str) -> Iterator[tuple[re.Match[str], list[str]]]:
    """The blocks of a page whose programs need other files, and these files."""
    downloads = {*downloadable_snippets()}
    for fence in CODE_FENCE.finditer(text):
        name = include[1] if (include := INCLUDE.search(fence[0])) else ""
        is_program = name.startswith(PROGRAM_FOLDERS) and name.endswith(".py")
        if is_program and (files := needed_files(paths.SNIPPETS / name, downloads)):
            yield fence, files


def add_file_lists(text: str, language: str) -> str:
    """List the files of a page below the output of the first block that needs any and isn't folded,
    and at the top of the exercises if one of their blocks does."""
    blocks = [*needing_blocks(text)]
    files = sorted({file for _, needed in blocks for file in needed})
    line = render("page_files.md", language, files=files, zip=ZIP, is_long=len(files) > FEW_FILES)
    heading = EXERCISES.search(text)
    start = heading.end() if heading else len(text)
    if any(fence.start() > start for fence, _ in blocks):
        text = f"{text[:start]}\n{line}{text[start:]}"
    before = [fence for fence, _ in blocks if fence.start() < start]
    if before:
        first = min(before, key=lambda fence: (bool(fence[1]), fence.start()))
        last = CODE_FENCE.search(text, first.end()) or first  # the output, perhaps below the fold
        end = last.end()
        text = f"{text[:end]}\n\n{indent(line.rstrip(), last[1])}{text[end:]}"
    return text
