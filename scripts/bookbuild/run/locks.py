"""Prevents two builds at once, and checks that the server's port is free."""

import functools
import socket
import sys
from pathlib import Path

from filelock import AcquireReturnProxy, FileLock, Timeout

from bookbuild.pages.errors import SetupError


def file_lock(path: Path, activity: str) -> AcquireReturnProxy:
    """Wait until no other process holds the lock, with a message; it ends with its process."""
    path.parent.mkdir(exist_ok=True)
    lock = FileLock(path)
    try:
        return lock.acquire(blocking=False)
    except Timeout:
        print(f"another process is {activity}; waiting until it has ended", file=sys.stderr)
        return lock.acquire()


@functools.cache  # once: from then on this process's own server uses the port
def check_port(host: str, port: int) -> None:
    """Raises SetupError if another process listens at the address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        hint = f"stop the process that uses it, or run scripts/serve -a {host}:{port + 1}"
        message = f"can't listen on {host}:{port} ({error.strerror}); {hint}"
        raise SetupError(message) from None
