"""Adds file and line to MkDocs' warnings about links."""

import logging
import re

from bookbuild.pages.page import SourcePage
from bookbuild.reference import quizzes

BROKEN_LINK = re.compile(r"Doc file '([^']+)' contains an? .*?link '([^']+)'")


def locate_links(language: str, record: logging.LogRecord) -> bool:
    """Add file and line to a warning about a broken link."""
    message = record.getMessage().strip()
    match = BROKEN_LINK.match(message)
    if match:
        message = f"{message.rstrip('.')}; correct the link, or write what it leads to"
        page = SourcePage(language, match[1])
        link = f"]({match[2]}"
        if link in page.text:
            error = page.error(page.text.index(link), message)
        else:  # perhaps it is in the page's quiz
            error = next(quizzes.errors_at_text(link, message), page.error(0, message))
        record.msg, record.args = str(error), ()
    return True
