"""The two kinds of error that a user reads: in a source, and in the setup."""

import errno
from pathlib import Path

from bookbuild.pages import paths


class SetupError(Exception):
    """Something is wrong with the machine, not with a source: 'what; what to do'."""


class SourceError(Exception):
    """Something wrong in a source, at a line: 'file:line: what; what to do'."""

    def __init__(self, path: Path, line: int, what: str):
        shown = path.relative_to(paths.ROOT) if path.is_relative_to(paths.ROOT) else path
        super().__init__(f"{shown}:{line}: {what}")


DISK_ERRORS = {
    errno.ENOENT: "it isn't there; git restore it, or run scripts/install if Git doesn't know it",
    errno.ENOSPC: "the disk is full; free some space, then run it again",
    errno.EDQUOT: "your share of the disk is full; free some space, then run it again",
    errno.EROFS: "it lies where nothing can be written; make it writable, then run it again",
    errno.EACCES: "you may not write it; make it yours (chown, chmod), then run it again",
}


def describe_os_error(error: BaseException) -> str | None:
    """What went wrong with the disk, in a line; None if it was something else."""
    if not isinstance(error, OSError) or error.errno not in DISK_ERRORS:
        return None
    place = Path(error.filename2 or error.filename or "site")  # of a copy, where it was to go
    shown = place.relative_to(paths.ROOT) if place.is_relative_to(paths.ROOT) else place
    return f"{shown}: {DISK_ERRORS[error.errno]}"
