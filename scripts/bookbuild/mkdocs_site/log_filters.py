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
    """Puts file and line before what MkDocs says of a link that leads nowhere."""

    LINK = re.compile(r"Doc file '([^']+)' contains an? .*?link '([^']+)'")

    def __init__(self, language: str):
        super().__init__()
        self.language = language

    def filter(self, record: logging.LogRecord) -> bool:
        told = record.getMessage().strip()
        match = self.LINK.match(told)
        if match:
            told = f"{told.rstrip('.')}; correct the link, or write what it leads to"
            page = SourcePage(self.language, match[1])
            link = f"]({match[2]}"
            if link in page.text:
                fault = page.error(page.text.index(link), told)
            else:  # in its quiz?
                fault = next(quizzes.errors_at_text(link, told), page.error(0, told))
            record.msg, record.args = str(fault), ()
        return True


class NavLocations(logging.Filter):
    """The same for what MkDocs says of the nav."""

    MISSING = re.compile(r"A reference to '([^']+)' is included in the 'nav'")
    OMITTED = re.compile(r"^  - (\S+)$", re.M)

    def __init__(self, config: MkDocsConfig):
        super().__init__()
        self.path, self.docs = Path(config.config_file_path), Path(config.docs_dir)

    def filter(self, record: logging.LogRecord) -> bool:
        told = record.getMessage()
        text, faults = self.path.read_text(encoding="utf-8"), []
        for name in self.MISSING.findall(told):
            what = f"the nav leads to {name}, which isn't there; correct the name, or write it"
            faults.append(SourceError(self.path, line_number(text, text.find(name)), what))
        if "not included in the" in told:
            for name in self.OMITTED.findall(told):
                what = f"no nav leads here; list {name} in {self.path.name}"
                faults.append(SourceError(self.docs / name, 1, what))
        if faults:
            record.msg, record.args = "\n".join(map(str, faults)), ()
        return True
