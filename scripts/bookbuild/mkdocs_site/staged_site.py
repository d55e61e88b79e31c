"""A site folder that replaces the old one only when it is complete."""

import os
import shutil
from pathlib import Path

from bookbuild.pages import paths
from bookbuild.run.locks import file_lock


class StagedSite:
    """The folder of a site that is being built: beside the old one, until it is whole."""

    def __init__(self, folder: str):
        self.folder = Path(folder).resolve()
        self.part = self.folder.with_name(f"{self.folder.name}.part")
        self.old = self.folder.with_name(f"{self.folder.name}.old")
        self.whole = False
        self.lock = file_lock(paths.GENERATED / "site.lock", "building the site")
        self.lock.__enter__()

    def end(self) -> None:
        """Put a whole site in the place of the old one; of another leave nothing."""
        if self.whole:
            shutil.rmtree(self.old, ignore_errors=True)  # of a build that was killed just here
            if self.folder.exists():
                os.rename(self.folder, self.old)
            os.rename(self.part, self.folder)
        for folder in (self.part, self.old):
            shutil.rmtree(folder, ignore_errors=True)
        self.lock.__exit__(None, None, None)
