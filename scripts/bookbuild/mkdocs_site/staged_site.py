"""A site folder that replaces the old one only when it is complete."""

import os
import shutil
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
        self.lock = file_lock(paths.GENERATED / "site.lock", "building the site")
        self.lock.__enter__()

    def finish(self) -> None:
        """Replace the old site if the new one is complete; remove both temporary folders."""
        if self.is_complete:
            shutil.rmtree(self.old, ignore_errors=True)  # from a build killed at this point
            if self.folder.exists():
                os.rename(self.folder, self.old)
            os.rename(self.part, self.folder)
        for folder in (self.part, self.old):
            shutil.rmtree(folder, ignore_errors=True)
        self.lock.__exit__(None, None, None)
