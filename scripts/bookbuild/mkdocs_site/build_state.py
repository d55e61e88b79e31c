"""What a build must remember from one MkDocs event to the next."""

import os
import shutil
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from bookbuild.pages import paths
from bookbuild.run.locks import file_lock


class StagedSite:
    """The folder of a site that is being built, next to the old one until it is complete."""

    def __init__(self, folder: str):
        self.folder = Path(folder).resolve()
        self.part = self.folder.with_name(f"{self.folder.name}.part")
        self.old = self.folder.with_name(f"{self.folder.name}.old")
        self.is_complete = False
        self.lock = file_lock(paths.GENERATED / "site.lock", "building the site").lock

    def finish(self) -> None:
        """Replace the old site if the new one is complete; remove both temporary folders."""
        if self.is_complete:
            shutil.rmtree(self.old, ignore_errors=True)  # from a build killed at this point
            if self.folder.exists():
                os.rename(self.folder, self.old)
            os.rename(self.part, self.folder)
        for folder in (self.part, self.old):
            shutil.rmtree(folder, ignore_errors=True)
        self.lock.release()


@dataclass
class BuildState:
    serving: bool = False  # mkdocs serve, not mkdocs build
    replaces_site: bool = False  # mkdocs build without --dirty
    staged_site: StagedSite | None = None  # the folder that the build fills
    can_fork: bool = True  # until a server has started its threads
    chinese_build: BaseProcess | None = None  # builds the Chinese site beside the English one
    chinese_key: str = ""  # while serving: of what the Chinese site is made from
    kept_chinese_key: str = ""  # … of the last one that was built without a warning


STATE = BuildState()
