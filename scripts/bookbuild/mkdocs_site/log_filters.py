"""Adds file and line to MkDocs' warnings and errors."""

import logging
import re
from functools import partial
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort

from bookbuild.generated import quizzes
from bookbuild.mkdocs_site.languages import build_language
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError, describe_error
from bookbuild.pages.files import line_number
from bookbuild.pages.page import SourcePage

BROKEN_LINK = re.compile(r"Doc file '([^']+)' contains an? .*?link '([^']+)'")
MISSING_NAV_PAGE = re.compile(r"A reference to '([^']+)' is included in the 'nav'")
OMITTED_NAV_PAGE = re.compile(r"^  - (\S+)$", re.M)
log = logging.getLogger("mkdocs.hooks.book")


def add_filters(config: MkDocsConfig) -> None:
    """Filter the warnings of a build, in place of those of the build before.

    A strict build counts its warnings, and shows them, even with --quiet.
    """
    if config.strict and log.getEffectiveLevel() > logging.WARNING:
        logging.getLogger("mkdocs").setLevel(logging.WARNING)
    for name, function, build in (
        ("mkdocs.structure.pages", locate_links, build_language(config)),
        ("mkdocs.structure.nav", locate_nav_errors, config),
    ):
        logging.getLogger(name).filters[:] = [partial(function, build)]


def locate_links(language: str, record: logging.LogRecord) -> bool:
    """Add file and line to a warning about a broken link."""
    message = record.getMessage().strip()
    if match := BROKEN_LINK.match(message):
        message = f"{message.rstrip('.')}; correct the link, or write what it leads to"
        error = quizzes.error_at_text(SourcePage(language, match[1]), f"]({match[2]}", message)
        record.msg, record.args = str(error), ()
    return True


def locate_nav_errors(config: MkDocsConfig, record: logging.LogRecord) -> bool:
    """Add file and line to a warning about the nav."""
    path, docs, warning = paths.ROOT / "mkdocs.yml", Path(config.docs_dir), record.getMessage()
    text, errors = path.read_text(encoding="utf-8"), []
    for name in MISSING_NAV_PAGE.findall(warning):
        message = f"the nav lists {name}, which doesn't exist; correct the name or add the page"
        errors.append(SourceError(path, line_number(text, text.find(name)), message))
    if "not included in the" in warning:
        for name in OMITTED_NAV_PAGE.findall(warning):
            message = f"the page isn't in the nav; add {name} to {path.name}"
            errors.append(SourceError(docs / name, 1, message))
    if errors:
        record.msg, record.args = "\n".join(map(str, errors)), ()
    return True


def report_error(error: Exception) -> None:
    """Report a known error in one line, and end the build."""
    if message := describe_error(error):
        log.error(message)
        raise Abort("Aborted because of an error") from None
