"""Checks what pages include: files, sections, figures and values must exist and be used."""

from collections.abc import Iterator
from pathlib import Path

from bookbuild.check.translation import translation_errors
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import line_number
from bookbuild.pages.page import FIGURE, VALUE, SourcePage, blank_fences, list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import read_sections
from bookbuild.pages.values import resolve_value

SHOWN_SNIPPETS = ("*.py", "*.js", "variants/*.py")  # each of their sections is on one page


def include_folders(language: str) -> list[Path]:
    """The base paths of the snippets extension in mkdocs.yml."""
    return [paths.SNIPPETS, paths.GENERATED, paths.GENERATED / language]


def page_errors(page: SourcePage) -> Iterator[SourceError]:
    """Missing includes, figures and values of a page, and invalid front matter."""
    yield from include_errors(page)
    try:
        page.meta  # noqa: B018
    except SourceError as error:
        yield error
    for match in FIGURE.finditer(page.text):
        alt_text, file = match.groups()
        if not (paths.GENERATED / page.language / file).is_file():
            source = f"scripts/{Path(file).parent}.py"
            message = f"missing figure {file}; correct the name or add its function to {source}"
            yield page.error(match.start(), message)
        if not alt_text.strip():
            message = f"{file} has no alternative text; describe the figure between [ and ]"
            yield page.error(match.start(), message)
    for match in VALUE.finditer(blank_fences(page.text)):
        try:
            resolve_value(match[1])
        except ValueError as error:
            yield page.error(match.start(), str(error))


def include_errors(page: SourcePage) -> Iterator[SourceError]:
    """Includes of files and sections that don't exist."""
    for line, file, section in page.includes():
        candidates = [folder / file for folder in include_folders(page.language)]
        path = next((path for path in candidates if path.is_file()), None)
        if path is None:
            message = f"missing file {file} in snippets/ or .generated/; correct the name or add it"
            yield SourceError(page.path, line, message)
        elif section is not None:
            try:
                names = list(read_sections(path))
            except SourceError as error:
                yield error
                continue
            if section not in names:
                message = f"no section {section} in {file}; it has: {', '.join(names) or 'none'}"
                yield SourceError(page.path, line, message)


def unused_outputs(language: str) -> Iterator[SourceError]:
    """Outputs, figures and sections that no page of the language shows, or that two show."""
    included: dict[tuple[str, str | None], list[SourcePage]] = {}
    quoted: set[str] = set()
    figures: set[str] = set()
    for page in list_pages(language):
        includes = [(file, section) for _, file, section in page.includes()]
        texts = [page.text]
        if page.is_pending:  # it need not show yet what only its translation shows
            translated = {(file, section) for _, file, section in page.translation.includes()}
            includes += sorted(translated - {*includes}, key=str)
            texts.append(page.translation.text)
        for include in includes:
            included.setdefault(include, []).append(page)
        for text in texts:
            quoted |= {match[1].partition(": ")[0] for match in VALUE.finditer(text)}
            figures |= {match[2] for match in FIGURE.finditer(text)}
    for path in sorted((paths.GENERATED / "outputs").rglob("*.txt")):
        name = path.relative_to(paths.GENERATED).as_posix()
        source = f"{name.removeprefix('outputs/').removesuffix('.txt')}.py"
        is_quoted = source.removeprefix("examples/").removesuffix(".py") in quoted
        if (name, None) not in included and not is_quoted:
            folder = paths.SCRIPTS if source.startswith("proofs/") else paths.SNIPPETS
            message = f"no page of docs/{language} shows its output; include {name} or remove it"
            yield SourceError(folder / source, 1, message)
    for path in sorted((paths.GENERATED / language / "figures").rglob("*.svg")):
        name = path.relative_to(paths.GENERATED / language).as_posix()
        if name not in figures:
            message = f"no page of docs/{language} shows {name}; add it to a page or remove it"
            yield SourceError(paths.SCRIPTS / f"{Path(name).parent}.py", 1, message)
    files = {path for pattern in SHOWN_SNIPPETS for path in paths.SNIPPETS.glob(pattern)}
    for path in sorted(files):
        file = path.relative_to(paths.SNIPPETS).as_posix()
        counts = {
            section: len(pages) for (name, section), pages in included.items() if name == file
        }
        yield from section_count_errors(path, file, counts, language)


def section_count_errors(
    path: Path, file: str, counts: dict[str | None, int], language: str
) -> Iterator[SourceError]:
    """Sections of a snippet that are not shown exactly once; the whole file if it has none."""
    try:
        names = list(read_sections(path))
    except SourceError:
        return  # reported by section_errors
    for name in names or [None]:
        count = counts.get(name, 0)
        if count != 1:
            text = path.read_text(encoding="utf-8")
            line = line_number(text, text.index(f"[start:{name}]")) if name else 1
            subject = f"section {name}" if name else "the file"
            include = f'--8<-- "{file}{f":{name}" if name else ""}"'
            message = f"docs/{language} shows {subject} {count} times; show it once: {include}"
            yield SourceError(path, line, message)


def completeness_errors() -> Iterator[SourceError]:
    """What is missing before the book can be published; stops a strict build only."""
    yield from translation_errors()
    for language in LANGUAGES:
        yield from unused_outputs(language)
        for page in list_pages(language):
            if not page.meta.get("description"):
                hint = "describe the page in its front matter, in one sentence"
                yield SourceError(page.path, 1, f"has no description; {hint}")
