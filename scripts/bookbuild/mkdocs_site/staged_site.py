"""The folder of a site that is being built, next to the old one until it is complete."""

import os
import shutil
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

from bookbuild.pages import paths
from bookbuild.run.locks import file_lock


class StagedSite:
    """Replaces the old site only after a build without an error."""

    lock = None
    is_complete = False

    def start(self, config: MkDocsConfig) -> None:
        """Let a build fill another folder."""
        self.folder = Path(config.site_dir).resolve()
        self.part = self.folder.with_name(f"{self.folder.name}.part")
        self.lock = file_lock(paths.GENERATED / "site.lock", "building the site").lock
        config.site_dir = str(self.part)

    def finish(self) -> None:
        """Replace the old site if the new one is complete; remove both temporary folders."""
        if not self.lock:
            return
        old = self.folder.with_name(f"{self.folder.name}.old")
        if self.is_complete:
            shutil.rmtree(old, ignore_errors=True)  # from a build killed at this point
            if self.folder.exists():
                os.rename(self.folder, old)
            os.rename(self.part, self.folder)
        for folder in (self.part, old):
            shutil.rmtree(folder, ignore_errors=True)
        self.lock.release()
