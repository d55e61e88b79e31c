"""The Chinese site, which is built into the folder zh/ of the English one."""

import logging
import multiprocessing
import shutil
import signal
import sys
import threading
from multiprocessing.process import BaseProcess
from pathlib import Path
from urllib.parse import urljoin

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, MkDocsException
from mkdocs.utils import CountHandler

from bookbuild.pages import paths

KEY_FILE = ".key"  # in a site that was built without a warning: of what it is made from


def can_fork() -> bool:
    """Whether no server has started its threads yet."""
    return threading.active_count() == 1


class ChineseSite:
    """The Chinese site of a build: built in a fork of the process that builds the English one
    meanwhile, or kept from the build before."""

    process: BaseProcess | None = None
    key = ""

    def keep(self, config: MkDocsConfig, key: str) -> None:
        """Move the site out of the folder that MkDocs is about to empty, if it was made from the
        same files: those with this key."""
        folder, self.key = Path(config.site_dir, "zh"), key
        shutil.rmtree(kept_folder(config), ignore_errors=True)  # from a build that has failed
        if key and (folder / KEY_FILE).is_file() and (folder / KEY_FILE).read_text() == key:
            folder.rename(kept_folder(config))

    def start(self, config: MkDocsConfig, command: str) -> None:
        """Start to build the site in a fork, unless a server has threads, or keeps it."""

        def run() -> None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent reports Ctrl-C
            try:
                self.build(config, command)
            except MkDocsException as error:
                error.show()
                sys.exit(1)

        if can_fork():
            self.process = multiprocessing.get_context("fork").Process(target=run, daemon=True)
            self.process.start()

    def finish(self, config: MkDocsConfig, command: str) -> None:
        """Wait for the fork, or build the site now. Raises Abort if it could not be built."""
        if not self.process:
            return self.build(config, command)
        self.process.join()
        failed, self.process = self.process.exitcode, None
        if failed:
            raise Abort("Aborted, since the Chinese site could not be built")

    def stop(self) -> None:
        """Stop building the site, if the English one has failed."""
        if self.process:
            self.process.terminate()
            self.process.join()

    def build(self, config: MkDocsConfig, command: str) -> None:
        """Build the site, or move it back to its folder."""
        folder = Path(config.site_dir, "zh")
        if kept_folder(config).is_dir():
            kept_folder(config).rename(folder)
            return
        chinese = load_config(
            str(paths.ROOT / "mkdocs.zh.yml"),
            site_dir=str(folder),
            site_url=urljoin(config.site_url or "/", "zh/"),
            strict=config.strict,
        )
        chinese.plugins.on_startup(command=command, dirty=False)  # type: ignore[arg-type]
        warnings = CountHandler()
        warnings.setLevel(logging.WARNING)
        logging.getLogger("mkdocs").addHandler(warnings)
        try:
            build(chinese)  # without on_shutdown, which is the end of both builds
        finally:
            logging.getLogger("mkdocs").removeHandler(warnings)
        if command == "serve" and self.key and not warnings.get_counts():
            (folder / KEY_FILE).write_text(self.key)


def kept_folder(config: MkDocsConfig) -> Path:
    return Path(f"{config.site_dir}.zh")
