"""Prevents two builds at once, and checks that the server's port is free."""

import functools
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from bookbuild.pages.errors import SetupError


@contextmanager
def file_lock(path: Path, activity: str) -> Iterator[None]:
    """Wait until no other process holds the lock, with a message; it ends with its process."""
    path.parent.mkdir(exist_ok=True)
    lock = FileLock(path)
    try:
        held = lock.acquire(blocking=False)
    except Timeout:
        print(f"another process is {activity}; waiting until it has ended", file=sys.stderr)
        held = lock.acquire()
    with held:
        yield


@functools.cache  # once: from then on this process's own server uses the port
def check_port(host: str, port: int) -> None:
    """Raises SetupError if another process listens at the address."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind((host, port))
        except OSError as error:
            hint = f"stop the process that uses it, or run scripts/serve -a {host}:{port + 1}"
            message = f"can't listen on {host}:{port} ({error.strerror}); {hint}"
            raise SetupError(message) from None
