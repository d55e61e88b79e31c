"""Runs scripts/generate if its output is stale, and checks the sources before a build."""

import logging
import subprocess
import sys
from collections.abc import Iterator

from mkdocs.exceptions import PluginError

from bookbuild.check.includes import completeness_errors, page_errors
from bookbuild.check.translation import notebook_errors
from bookbuild.generated import bibliography, claims, contents_tables
from bookbuild.pages import fresh, paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import check_encodings
from bookbuild.pages.glossary import glossary_errors
from bookbuild.pages.page import list_pages, outline
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import section_errors
from bookbuild.run import generate
from bookbuild.step_through.step_notes import note_errors

SETTINGS = "mkdocs.yml", "mkdocs.zh.yml"
SOURCE_PATHS = ("snippets", "scripts", "tests/claims", *SETTINGS, *fresh.LOCK_FILES)
OUTPUT_PATHS = tuple(
    f".generated/{name}" for name in ("outputs", "fresh/jobs", "downloads", *LANGUAGES)
)
GENERATE = [sys.executable, "-m", "bookbuild.run.generate"]
log = logging.getLogger("mkdocs.hooks.book")


def prepare_sources(is_served: bool) -> str:
    """Generate what is stale and check both languages.

    Returns a key of all that the Chinese site is made from.
    A server skips what an earlier build has done with the same files: generating and the checks of
    what the book refers to, unless more has changed than the paragraphs of pages, and the checks of
    these, if there was no warning.
    """
    sources, pages = hash_sources(), hash_pages()  # before they are read
    outputs = fresh.hash_files(OUTPUT_PATHS)
    if not (is_served and fresh.is_fresh("generated", fresh.hash_texts([sources, outputs]))):
        generate_outputs(is_served)
        outputs = fresh.hash_files(OUTPUT_PATHS)
        fresh.record("checked", "")
        fresh.record("references checked", "")
    generated = fresh.hash_texts([sources, outputs])
    fresh.record("generated", generated)
    checked = fresh.hash_texts([generated, pages])
    if not (is_served and fresh.is_fresh("checked", checked)):
        check_encodings()
        knows_references = is_served and fresh.is_fresh("references checked", generated)
        found = [*page_source_errors(), *(() if knows_references else source_errors())]
        if errors := list(dict.fromkeys(map(str, found))):
            raise PluginError("\n".join(errors))
        fresh.record("references checked", generated)
        warnings: list[object] = [*completeness_errors(), *bibliography.unused_references()]
        warnings += contents_tables.question_errors()
        if contents_tables.update_readme():
            warnings.append("README.md:1: its generated parts have changed; commit it")
        for warning in warnings:  # stops a strict build
            log.warning(warning)
        fresh.record("checked", "" if warnings else checked)
    return fresh.hash_texts([generated, hash_pages("zh"), fresh.hash_files(["overrides"])])


def hash_sources() -> str:
    """A hash of all that outputs, lists and tables are made from: of pages, only the outline."""
    files = sorted(path for path in paths.DOCS.rglob("*.*") if path.is_file())
    others = [path for path in files if path.suffix != ".md"]
    pages = (path for path in files if path.suffix == ".md")
    outlines = [f"{path} {outline(path.read_text('utf-8', 'replace'))}" for path in pages]
    return fresh.hash_texts(
        [fresh.code_version(), fresh.hash_files([*SOURCE_PATHS, *others]), *outlines]
    )


def hash_pages(language: str = "") -> str:
    """A hash of the text of all pages, or of those of a language."""
    return fresh.hash_files(paths.DOCS.glob(f"{language or '*'}/**/*.md"))


def generate_outputs(is_served: bool) -> None:
    """Run scripts/generate if anything is stale. Raises PluginError if it fails."""
    if not generate.stale_jobs(is_served):
        return generate.update_tables()
    command = [*GENERATE, *(["--serving"] if is_served else [])]
    status = subprocess.run(command, cwd=paths.SCRIPTS).returncode
    if status < 0:
        hint = "is there enough memory? Run it again; finished outputs are kept"
        raise PluginError(f"scripts/generate was killed by signal {-status}; {hint}")
    if status:
        raise PluginError("scripts/generate failed; see the errors above")


def page_source_errors() -> Iterator[SourceError]:
    """What is wrong with the text of a page, so that no build can use it."""
    for language in LANGUAGES:
        for page in list_pages(language):
            yield from page_errors(page)
    yield from bibliography.reference_errors()


def source_errors() -> Iterator[SourceError]:
    """What else no build can use. What is only unfinished is a warning."""
    yield from section_errors()
    yield from notebook_errors()
    yield from glossary_errors()
    yield from note_errors()
    yield from claims.claim_errors()
