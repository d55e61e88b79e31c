"""Runs scripts/generate if its output is stale, and checks the sources before a build."""

import logging
import os
import subprocess
import sys

from mkdocs.exceptions import PluginError

from bookbuild.check.includes import completeness_errors, page_errors
from bookbuild.check.translation import notebook_errors
from bookbuild.pages import paths
from bookbuild.pages.glossary import glossary_errors
from bookbuild.pages.page import list_pages
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import section_errors
from bookbuild.publish import feed
from bookbuild.reference import bibliography, claims
from bookbuild.run import generate

log = logging.getLogger("mkdocs.hooks.book")


def generate_outputs() -> None:
    """Run scripts/generate if anything is stale. Raises PluginError if it fails."""
    if not generate.is_stale():
        return
    folders = [str(paths.SCRIPTS), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))}
    command = [sys.executable, "-m", "bookbuild.run.generate"]
    status = subprocess.run(command, env=environment).returncode
    if status < 0:
        hint = "is there enough memory? Run it again; finished outputs are kept"
        raise PluginError(f"scripts/generate was killed by signal {-status}; {hint}")
    if status:
        raise PluginError("scripts/generate failed; see the errors above")


def check_sources(language: str) -> None:
    """Raises PluginError for what no build can use; logs a warning, which stops a strict build,
    for what is unfinished. The English build, which comes first, checks both languages."""
    is_first = language == LANGUAGES[0]
    errors = [*section_errors()]
    for checked in LANGUAGES if is_first else (language,):
        for page in list_pages(checked):
            errors += page_errors(page)
    errors += [*notebook_errors(), *glossary_errors()]
    if is_first:
        errors += [*bibliography.reference_errors(), *claims.claim_errors(), *feed.feed_errors()]
    if errors:
        raise PluginError("\n".join(dict.fromkeys(map(str, errors))))
    if is_first:
        for error in [*completeness_errors(), *bibliography.unused_references()]:
            log.warning(error)
