"""What pages include: files, sections, figures and values that must exist and be used."""

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

SHOWN_SNIPPETS = ("*.py", "*.js", "variants/*.py")  # in snippets/: every section on one page


def include_folders(language: str) -> list[Path]:
    """Where includes are looked for, as mkdocs.yml tells the snippets extension."""
    return [paths.SNIPPETS, paths.GENERATED, paths.GENERATED / language]


def page_errors(page: SourcePage) -> Iterator[SourceError]:
    """Includes, figures and values that are not there."""
    for line, file, section in page.includes():
        path = next((p for b in include_folders(page.language) if (p := b / file).is_file()), None)
        if path is None:
            what = f"no file {file} in snippets/ or .generated/; correct the name or write it"
            yield SourceError(page.path, line, what)
        elif section is not None:
            try:
                names = list(read_sections(path))
            except SourceError as fault:
                yield fault
                continue
            if section not in names:
                has = ", ".join(names) or "none"
                yield SourceError(
                    page.path,
                    line,
                    f"no section {section} in {file}; it has {has}",
                )
    try:
        page.meta  # noqa: B018
    except SourceError as fault:
        yield fault
    for match in FIGURE.finditer(page.text):
        if not (paths.GENERATED / page.language / match[2]).is_file():
            yield page.error(
                match.start(),
                f"no {match[2]}; scripts/{Path(match[2]).parent}.py draws it? "
                "Correct the name or write the function",
            )
        if not match[1].strip():
            what = f"{match[2]} has no alternative text; say between [ and ] what is to be seen"
            yield page.error(match.start(), what)
    for match in VALUE.finditer(blank_fences(page.text)):
        try:
            resolve_value(match[1])
        except ValueError as error:
            yield page.error(match.start(), str(error))


def unused_outputs(language: str) -> Iterator[SourceError]:
    """Outputs and sections that no page of the language shows, or two do."""
    shown: dict[tuple[str, str | None], list[SourcePage]] = {}
    quoted: set[str] = set()
    figures: set[str] = set()
    for page in list_pages(language):
        included = [(file, section) for _, file, section in page.includes()]
        texts = [page.text]
        if page.is_pending:  # it need not show yet what only its translation shows
            new = {(file, section) for _, file, section in page.translation.includes()}
            included += sorted(new - {*included}, key=str)
            texts.append(page.translation.text)
        for each in included:
            shown.setdefault(each, []).append(page)
        for text in texts:
            quoted |= {m[1].partition(": ")[0] for m in VALUE.finditer(text)}
            figures |= {m[2] for m in FIGURE.finditer(text)}
    for path in sorted((paths.GENERATED / "outputs").rglob("*.txt")):
        name = path.relative_to(paths.GENERATED).as_posix()
        source = f"{name.removeprefix('outputs/').removesuffix('.txt')}.py"
        is_quoted = source.removeprefix("examples/").removesuffix(".py") in quoted
        if (name, None) not in shown and not is_quoted:
            yield SourceError(
                (paths.SCRIPTS if source.startswith("proofs/") else paths.SNIPPETS) / source,
                1,
                f"no page of docs/{language} shows its output; include {name} there, or remove it",
            )
    for path in sorted((paths.GENERATED / language / "figures").rglob("*.svg")):
        name = path.relative_to(paths.GENERATED / language).as_posix()
        if name not in figures:
            source_path = paths.SCRIPTS / f"{Path(name).parent}.py"
            what = f"no page of docs/{language} shows {name}; show it there, or remove it"
            yield SourceError(source_path, 1, what)
    for path in sorted(each for pattern in SHOWN_SNIPPETS for each in paths.SNIPPETS.glob(pattern)):
        try:
            names = list(read_sections(path))
        except SourceError:
            continue  # told by snippet_faults
        file = path.relative_to(paths.SNIPPETS).as_posix()
        for name in names or [None]:
            count = len(shown.get((file, name), []))
            if count != 1:
                text = path.read_text(encoding="utf-8")
                line = line_number(text, text.index(f"[start:{name}]")) if name else 1
                what = f"section {name}" if name else "the file"
                how = "no page" if count == 0 else f"{count} places"
                should = f'show it once: --8<-- "{file}{f":{name}" if name else ""}"'
                yield SourceError(
                    path, line, f"{what} is shown in {how} of docs/{language}; {should}"
                )


def completeness_errors() -> Iterator[SourceError]:
    """What a person still has to do before the book is whole."""
    yield from translation_errors()
    for language in LANGUAGES:
        yield from unused_outputs(language)
        for page in list_pages(language):
            if not page.meta.get("description"):
                how = "write into its front matter what it is about, in a sentence"
                yield SourceError(page.path, 1, f"has no description; {how}")
