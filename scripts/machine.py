"""What a machine may do to a build: two at once, a full disk, a kill, something not installed.

What was there stays whole until the new is whole, and what went wrong is told in a line.
"""

import errno
import fcntl
import functools
import os
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import book

DISK = {
    errno.ENOENT: "it isn't there; git restore it, or run scripts/install if Git doesn't know it",
    errno.ENOSPC: "the disk is full; free some space, then run it again",
    errno.EDQUOT: "your share of the disk is full; free some space, then run it again",
    errno.EROFS: "it lies where nothing can be written; make it writable, then run it again",
    errno.EACCES: "you may not write it; make it yours (chown, chmod), then run it again",
}


def told(error: BaseException) -> str | None:
    """What went wrong with the disk, in a line; None if it was something else."""
    if not isinstance(error, OSError) or error.errno not in DISK:
        return None
    place = Path(error.filename2 or error.filename or "site")  # of a copy, where it was to go
    shown = place.relative_to(book.ROOT) if place.is_relative_to(book.ROOT) else place
    return f"{shown}: {DISK[error.errno]}"


@contextmanager
def locked(path: Path, doing: str) -> Iterator[None]:
    """Two at once: the second waits for the first, and says so. Ends with its process."""
    path.parent.mkdir(exist_ok=True)
    with open(path, "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"another process is {doing}; waiting until it has ended", file=sys.stderr)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@functools.cache  # once: afterwards the server itself has it
def free(host: str, port: int) -> None:
    """Is the address free that a server is to have? Better told before a build than after it."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server will
        try:
            tried.bind((host, port))
        except OSError as error:
            how = f"end what has it, or take another: scripts/serve -a {host}:{port + 1}"
            raise book.Trouble(f"{host}:{port} can't be had ({error.strerror}); {how}") from None


class Site:
    """The folder of a site that is being built: beside the old one, until it is whole."""

    def __init__(self, folder: str):
        self.folder = Path(folder).resolve()
        self.part = self.folder.with_name(f"{self.folder.name}.part")
        self.old = self.folder.with_name(f"{self.folder.name}.old")
        self.whole = False
        self.lock = locked(book.GENERATED / "site.lock", "building the site")
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
