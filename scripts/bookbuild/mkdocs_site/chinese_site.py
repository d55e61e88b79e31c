"""The folders of a build: of the Chinese site, zh/ in that of the English one; and of a site that
is being built, next to the old one until it is complete."""

import logging
import multiprocessing
import os
import shutil
import signal
import threading
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from urllib.parse import urljoin

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, MkDocsException
from mkdocs.utils import CountHandler

from bookbuild.pages import paths
from bookbuild.run.locks import file_lock

KEY_FILE = ".key"  # in a site that was built without a warning: of what it is made from


def can_fork() -> bool:
    """Whether no server has started its threads yet."""
    return threading.active_count() == 1


class ChineseSite:
    """The Chinese site of a build: kept from the build before, or built while the process builds
    the English one, by a fork that a server keeps for its next builds."""

    process: BaseProcess | None = None
    connection: Connection
    is_building = False  # in the fork
    key = ""

    def keep(self, config: MkDocsConfig, key: str) -> None:
        """Move the site out of the folder that MkDocs is about to empty, if it was made from the
        same files: those with this key."""
        self.wait()  # for a build whose English site has failed
        folder, self.key = Path(config.site_dir, "zh"), key
        shutil.rmtree(kept_folder(config), ignore_errors=True)  # from a build that has failed
        if key and (folder / KEY_FILE).is_file() and (folder / KEY_FILE).read_text() == key:
            folder.rename(kept_folder(config))

    def start(self, config: MkDocsConfig, command: str) -> None:
        """Move the site back to its folder if it is kept, or else start to build it in the fork,
        if there is one: a server that has threads can't make it."""
        if kept_folder(config).is_dir():
            kept_folder(config).rename(Path(config.site_dir, "zh"))
            return
        if not self.process and can_fork():
            self.connection, other = multiprocessing.Pipe()
            target, arguments = run_builds, (self.connection, other)
            context = multiprocessing.get_context("fork")
            self.process = context.Process(target=target, args=arguments, daemon=True)
            self.process.start()
            other.close()
        if self.process and self.process.is_alive():
            self.connection.send(self.build_arguments(config, command))
            self.is_building = True

    def finish(self, config: MkDocsConfig, command: str) -> None:
        """Wait for the fork, or build the site now. Raises Abort if it could not be built."""
        if self.is_building:
            if not self.wait():
                raise Abort("Aborted, since the Chinese site could not be built")
        elif not Path(config.site_dir, "zh").is_dir():
            build_site(*self.build_arguments(config, command))

    def build_arguments(self, config: MkDocsConfig, command: str) -> tuple:
        key = self.key if command == "serve" else ""
        return config.site_dir, config.site_url or "/", config.strict, command, key

    def wait(self) -> bool:
        """Wait for the build of the fork; returns whether it succeeded."""
        succeeded = False
        if self.is_building:
            self.is_building = False
            with suppress(EOFError):  # the fork was killed
                succeeded = self.connection.recv()
        return succeeded

    def stop(self) -> None:
        """Stop building the site, if the English one has failed."""
        if self.process:
            self.process.terminate()
            self.process.join()


def run_builds(parent_end: Connection, connection: Connection) -> None:
    """Build the site each time that arguments arrive; answers whether that succeeded."""
    parent_end.close()  # so that recv ends when the parent does
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent reports Ctrl-C
    with suppress(EOFError):
        while True:
            arguments = connection.recv()
            succeeded = False
            try:
                build_site(*arguments)
                succeeded = True
            except MkDocsException as error:
                error.show()
            except Exception:
                traceback.print_exc()
            connection.send(succeeded)


def build_site(english_dir: str, english_url: str, strict: bool, command: str, key: str) -> None:
    """Build the site beside the English one, and record its key if there is no warning."""
    folder = Path(english_dir, "zh")
    chinese = load_config(
        str(paths.ROOT / "mkdocs.zh.yml"),
        site_dir=str(folder),
        site_url=urljoin(english_url, "zh/"),
        strict=strict,
    )
    chinese.plugins.on_startup(command=command, dirty=False)  # type: ignore[arg-type]
    warnings = CountHandler()
    warnings.setLevel(logging.WARNING)
    logging.getLogger("mkdocs").addHandler(warnings)
    try:
        build(chinese)  # without on_shutdown, which is the end of both builds
    finally:
        logging.getLogger("mkdocs").removeHandler(warnings)
    if key and not warnings.get_counts():
        (folder / KEY_FILE).write_text(key)


def kept_folder(config: MkDocsConfig) -> Path:
    return Path(f"{config.site_dir}.zh")


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
