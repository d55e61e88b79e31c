"""Adds file and line to MkDocs' warnings."""

import logging
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import line_number
from bookbuild.pages.page import SourcePage
from bookbuild.reference import quizzes


class LinkLocations(logging.Filter):
    """Adds file and line to MkDocs' warnings about broken links."""

    LINK = re.compile(r"Doc file '([^']+)' contains an? .*?link '([^']+)'")

    def __init__(self, language: str):
        super().__init__()
        self.language = language

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage().strip()
        match = self.LINK.match(message)
        if match:
            message = f"{message.rstrip('.')}; correct the link, or write what it leads to"
            page = SourcePage(self.language, match[1])
            link = f"]({match[2]}"
            if link in page.text:
                error = page.error(page.text.index(link), message)
            else:  # perhaps it is in the page's quiz
                error = next(quizzes.errors_at_text(link, message), page.error(0, message))
            record.msg, record.args = str(error), ()
        return True


class NavLocations(logging.Filter):
    """Adds file and line to MkDocs' warnings about the nav."""

    MISSING = re.compile(r"A reference to '([^']+)' is included in the 'nav'")
    OMITTED = re.compile(r"^  - (\S+)$", re.M)

    def __init__(self, config: MkDocsConfig):
        super().__init__()
        self.path, self.docs = Path(config.config_file_path), Path(config.docs_dir)

    def filter(self, record: logging.LogRecord) -> bool:
        warning = record.getMessage()
        text, errors = self.path.read_text(encoding="utf-8"), []
        for name in self.MISSING.findall(warning):
            message = f"the nav lists {name}, which doesn't exist; correct the name or add the page"
            errors.append(SourceError(self.path, line_number(text, text.find(name)), message))
        if "not included in the" in warning:
            for name in self.OMITTED.findall(warning):
                message = f"the page isn't in the nav; add {name} to {self.path.name}"
                errors.append(SourceError(self.docs / name, 1, message))
        if errors:
            record.msg, record.args = "\n".join(map(str, errors)), ()
        return True
