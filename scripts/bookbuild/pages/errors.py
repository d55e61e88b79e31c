"""The errors that a user reads: SourceError for a source file, SetupError for the machine."""

import errno
from pathlib import Path

from jinja2 import TemplateSyntaxError

from bookbuild.pages import paths


class SetupError(Exception):
    """Something is wrong with the machine: 'what is wrong; how to fix it'."""


class SourceError(Exception):
    """Something is wrong in a source file: 'file:line: what is wrong; how to fix it'."""

    def __init__(self, path: Path, line: int, message: str):
        super().__init__(f"{relative_to_root(path)}:{line}: {message}")


def relative_to_root(path: Path) -> Path:
    """The path relative to the repository, or unchanged if it is outside."""
    return path.relative_to(paths.ROOT) if path.is_relative_to(paths.ROOT) else path


OS_ERROR_MESSAGES = {
    errno.ENOENT: "file not found; run git restore, or scripts/install if Git doesn't track it",
    errno.ENOSPC: "the disk is full; free some space, then run it again",
    errno.EDQUOT: "your disk quota is exceeded; free some space, then run it again",
    errno.EROFS: "the file system is read-only; make it writable, then run it again",
    errno.EACCES: "permission denied; change the owner or mode (chown, chmod), then run it again",
}


def describe_error(error: BaseException) -> str | None:
    """One line for an error that a user can correct; None for any other error."""
    if isinstance(error, SourceError | SetupError):
        return str(error)
    if isinstance(error, TemplateSyntaxError) and error.filename:
        hint = "correct the template, or git restore it"
        return str(SourceError(Path(error.filename), error.lineno, f"{error.message}; {hint}"))
    if not isinstance(error, OSError) or error.errno not in OS_ERROR_MESSAGES:
        return None
    path = Path(error.filename2 or error.filename or "site")  # filename2: destination of a copy
    return f"{relative_to_root(path)}: {OS_ERROR_MESSAGES[error.errno]}"
