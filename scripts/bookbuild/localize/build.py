"""Writes the Chinese snippets, downloads and outputs into .generated/zh/; labs are in docs/zh/."""

import functools
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from bookbuild.localize.catalogs import catalog_path, file_name, read_code, snippet_files
from bookbuild.localize.outputs import derive_lab_outputs, derive_output
from bookbuild.localize.render import render_file
from bookbuild.pages import paths
from bookbuild.pages.files import write_file
from bookbuild.pages.sections import without_section_markers

MadeFile = tuple[Path, list[str], Callable[[], str]]  # its inputs, and what makes its text
Programs = Iterable[tuple[Path, list[Path]]]  # each with all modules that it imports


def chinese_path(snippet: Path, folder: str = "snippets") -> Path:
    """Where the build writes a snippet in Chinese, its download or its output."""
    return paths.GENERATED / "zh" / folder / file_name(snippet)


def write_chinese_files(downloads: list[Path], programs: Programs) -> None:
    """Write the files whose inputs have changed since the last time; remove obsolete ones."""
    record, keys = paths.GENERATED / "zh" / "made.json", {}
    old_keys = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    for path, inputs, make in chinese_files(downloads, programs):
        name = path.relative_to(paths.GENERATED).as_posix()
        keys[name] = hashlib.sha256("\0".join([code_key(), *inputs]).encode()).hexdigest()
        if old_keys.get(name) != keys[name] or not path.exists():
            write_file(path, make())
    for name in old_keys.keys() - keys:
        (paths.GENERATED / name).unlink(missing_ok=True)
    write_file(record, json.dumps(keys))


def chinese_files(downloads: list[Path], programs: Programs) -> Iterator[MadeFile]:
    """The snippets, then what is made from them."""
    for snippet in snippet_files():
        catalog, source = catalog_path(snippet), snippet.read_text(encoding="utf-8")
        words = catalog.read_text(encoding="utf-8") if catalog.exists() else ""
        yield chinese_path(snippet), [source, words], partial(render_file, snippet)
    for path in downloads:
        if path.suffix in (".py", ".js"):
            chinese = chinese_path(path)
            make = partial(without_section_markers, chinese)
            yield chinese_path(path, "downloads"), [chinese.read_text(encoding="utf-8")], make

    @functools.cache
    def sources(snippet: Path) -> tuple[str, str]:
        if snippet.suffix == ".ipynb":
            return read_code(snippet), render_file(snippet)
        return read_code(snippet), read_code(chinese_path(snippet))

    output_types = {".py": (".txt", derive_output), ".ipynb": (".json", derive_lab_outputs)}
    for program, modules in programs:
        suffix, derive = output_types[program.suffix]
        output = (paths.GENERATED / "outputs" / file_name(program)).with_suffix(suffix)
        if output.exists():
            printed = output.read_text(encoding="utf-8")
            own, imported = sources(program), [*map(sources, modules)]
            texts = [printed, *own, *(text for source in imported for text in source)]
            path = chinese_path(program, "outputs").with_suffix(suffix)
            yield path, texts, partial(derive, printed, own, imported)


@functools.cache
def code_key() -> str:
    """A hash of this package."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
