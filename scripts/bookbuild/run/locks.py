"""What a machine may do to a build: two at once, a full disk, a kill, something not installed.

What was there stays whole until the new is whole, and what went wrong is told in a line.
"""

import fcntl
import functools
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bookbuild.pages.errors import SetupError


@contextmanager
def file_lock(path: Path, doing: str) -> Iterator[None]:
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
def check_port(host: str, port: int) -> None:
    """Is the address free that a server is to have? Better told before a build than after it."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server will
        try:
            tried.bind((host, port))
        except OSError as error:
            how = f"end what has it, or take another: scripts/serve -a {host}:{port + 1}"
            raise SetupError(f"{host}:{port} can't be had ({error.strerror}); {how}") from None
