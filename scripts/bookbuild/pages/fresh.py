"""Whether something is fresh: made from its inputs as they are now.

A key is a hash of the inputs. .generated/fresh/ has a file for each thing that a build has made:
its key, and the result itself if that has no file of its own.
"""

import functools
import hashlib
import pickle
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from bookbuild.pages import paths
from bookbuild.pages.files import write_file

Result = TypeVar("Result")
LOCK_FILES = "requirements.txt", "requirements-torch.txt", "package-lock.json"


def hash_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def hash_texts(texts: Iterable[str]) -> str:
    return hash_bytes("\0".join(texts).encode())


def hash_file(path: Path) -> str:
    """A short hash of a file; comments and docstrings of Python don't change it."""
    # Here, since it imports the files themselves: a mutant is imported by a fresh process.
    from translator import code_only

    if not path.is_file():
        return "missing"
    data = path.read_bytes()
    code = code_only(data.decode()).encode() if path.suffix == ".py" else data
    return hash_bytes(code)[:16]


def hash_files(files: Iterable[str | Path]) -> str:
    """A hash of the names and the contents of these files, and of all files in these folders,
    without bytecode."""
    roots = [paths.ROOT / file for file in files]
    parts = []
    for path in sorted(path for root in roots for path in (root, *root.rglob("*"))):
        if "__pycache__" not in path.parts:
            parts += [f"{path}\0".encode(), path.read_bytes() if path.is_file() else b""]
    return hash_bytes(b"".join(parts))


@functools.cache
def code_version() -> str:
    """A hash of the code and the packages that build the site, which a server loads once."""
    locks = [(paths.ROOT / name).read_text(encoding="utf-8") for name in LOCK_FILES]
    return hash_texts([sys.version, hash_files(["scripts/bookbuild"]), *locks])


def record_path(name: str) -> Path:
    return paths.GENERATED / "fresh" / name


def record(name: str, key: str, result: object = None) -> None:
    """Record that something was made from inputs with this key."""
    write_file(record_path(name), pickle.dumps((key, result)))


def recorded(name: str) -> tuple[str, Any]:
    """The key and the result of what was made last; an empty key if there is none."""
    with suppress(Exception):  # unpickling a damaged file may raise any exception
        key, result = pickle.loads(record_path(name).read_bytes())
        return key, result
    return "", None


def is_fresh(name: str, key: str) -> bool:
    """Whether something was last made from inputs with this key."""
    return recorded(name)[0] == key


def cached(
    name: str, key: str, compute: Callable[[], Result], outputs: Iterable[Path] = ()
) -> Result:
    """The result of a computation, repeated only if its key or the code of the build has changed,
    or if one of the files that it writes is missing."""
    key = f"{code_version()} {key}"
    stored_key, result = recorded(name)
    if stored_key == key and all(path.exists() for path in outputs):
        return result
    result = compute()
    record(name, key, result)
    return result
