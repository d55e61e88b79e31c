"""Runs scripts/generate if its output is stale, and checks the sources before a build."""

import atexit
import logging
import subprocess
import sys
from collections.abc import Iterator

from mkdocs.exceptions import PluginError

from bookbuild.check.includes import completeness_errors, page_errors
from bookbuild.check.translation import notebook_errors
from bookbuild.mkdocs_site.build_state import STATE
from bookbuild.mkdocs_site.render_cache import LOCK_FILES, code_version, hash_files
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.glossary import glossary_errors
from bookbuild.pages.page import list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import section_errors
from bookbuild.reference import bibliography, claims, contents_tables
from bookbuild.reference.step_notes import note_errors
from bookbuild.run import generate

SOURCE_PATHS = ("docs", "snippets", "scripts", "tests/claims", "mkdocs.yml", *LOCK_FILES)
OUTPUT_PATHS = tuple(f".generated/{name}" for name in ("outputs", "keys", "downloads", *LANGUAGES))
GENERATE = (sys.executable, "-m", "bookbuild.run.generate")
log = logging.getLogger("mkdocs.hooks.book")


def prepare_sources() -> None:
    """Generate what is stale and check both languages.

    A server skips both if nothing has changed since an earlier build that had no warnings and
    for which all slow jobs had run.
    """
    record = paths.GENERATED / "cache" / "checked"
    sources = f"{code_version()} {hash_files(SOURCE_PATHS)}"  # before they are read
    key = f"{sources} {hash_files(OUTPUT_PATHS)}"
    if not (STATE.serving and record.is_file() and record.read_text() == key):
        generate_outputs()
        errors = list(dict.fromkeys(map(str, source_errors())))
        if errors:
            raise PluginError("\n".join(errors))
        warnings: list[object] = [*completeness_errors(), *bibliography.unused_references()]
        warnings += contents_tables.question_errors()
        if contents_tables.update_readme():
            warnings.append("README.md now has the pages of the nav; commit it")
        for warning in warnings:  # stops a strict build
            log.warning(warning)
        key = f"{sources} {hash_files(OUTPUT_PATHS)}"
        write_file(record, "" if warnings or STATE.slow_jobs_are_stale else key)


def generate_outputs() -> None:
    """Run scripts/generate if anything is stale. Raises PluginError if it fails.

    A server doesn't wait for slow jobs: their outputs are missing until start_slow_jobs has run
    them.
    """
    stop_slow_jobs()
    stale = generate.stale_jobs()
    STATE.slow_jobs_are_stale = STATE.serving and any(job.is_slow for job in stale)
    if all(STATE.serving and job.is_slow for job in stale):
        return generate.update_tables()
    options = ["--no-slow"] if STATE.serving else []
    status = subprocess.run([*GENERATE, *options], cwd=paths.SCRIPTS).returncode
    if status < 0:
        hint = "is there enough memory? Run it again; finished outputs are kept"
        raise PluginError(f"scripts/generate was killed by signal {-status}; {hint}")
    if status:
        raise PluginError("scripts/generate failed; see the errors above")


def start_slow_jobs() -> None:
    """After a build, run stale slow jobs in the background; the server then builds again."""
    if STATE.slow_jobs_are_stale:
        atexit.register(stop_slow_jobs)
        STATE.slow_jobs = subprocess.Popen(GENERATE, cwd=paths.SCRIPTS)


def stop_slow_jobs() -> None:
    """Stop running slow jobs in the background; finished outputs are kept."""
    if STATE.slow_jobs:
        STATE.slow_jobs.terminate()
        STATE.slow_jobs.wait()
        STATE.slow_jobs = None


def source_errors() -> Iterator[SourceError]:
    """What no build can use. What is only unfinished is a warning."""
    yield from section_errors()
    for language in LANGUAGES:
        for page in list_pages(language):
            yield from page_errors(page)
    yield from notebook_errors()
    yield from glossary_errors()
    yield from note_errors()
    yield from bibliography.reference_errors()
    yield from claims.claim_errors()
