# --8<-- [start:write_whole]
"""Files that survive a crash, and checkpoints that are what they say."""

import hashlib
import io
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that after a crash the old or the new one is whole.

    Raises OSError with the file's name, for example if the disk is full.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        with open(part, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # on the disk before it gets its name
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error


# --8<-- [end:write_whole]
# --8<-- [start:checkpoints]
def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Save a state, behind its checksum."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    data = buffer.getvalue()
    write_whole(path, hashlib.sha256(data).digest() + data)


def load_checkpoint(
    path: Path, about: dict[str, Any], changeable: Collection[str] = ()
) -> dict[str, Any]:
    """The state that was saved, if it is whole and of the run that is meant.

    Raises ValueError for no file, a damaged one and one of another run; the
    settings that are changeable may differ.
    """
    if not path.exists():
        raise ValueError(f"there is no {path}: begin without --resume")
    data = path.read_bytes()
    if hashlib.sha256(data[32:]).digest() != data[:32]:
        raise ValueError(f"{path} is damaged: delete it and begin anew")
    state = torch.load(
        io.BytesIO(data[32:]), weights_only=True, map_location="cpu"
    )
    there = state["about"]
    if there.get("data") != about.get("data"):
        raise ValueError(f"{path} is of another run: its data are others")
    differences = [
        f"{name} is {there.get(name)!r} there and {about.get(name)!r} here"
        for name in about | there
        if there.get(name) != about.get(name) and name not in changeable
    ]
    if differences:
        raise ValueError(f"{path} is of another run: {', '.join(differences)}")
    return state


# --8<-- [end:checkpoints]
