"""Breaks a copy of the sample book, checks the message and the files left, repairs it, rebuilds."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from bookbuild.pages.files import PARTIAL_SUFFIX
from warm_mkdocs import TIMEOUT, WarmMkDocs

PATIENCE = 120  # seconds, on a busy machine
MKDOCS = Path(sys.executable).with_name("mkdocs")
# Files that may differ between equal builds: locks, and caches that only save time.
LOCKS = ("*.lock", "lock", "installing")
CACHES = ("cache/*", "cache/*/*", "templates/*", "jieba.cache")


class Run(NamedTuple):
    """The exit status and the output of a command."""

    status: int
    output: str


def environment(**more: str) -> dict[str, str]:
    """Variables for builds whose bytes are compared."""
    quiet = {"NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1", "SOURCE_DATE_EPOCH": "1700000000"}
    return os.environ | quiet | more


def run(folder: Path, *command: str | Path, **more: str) -> Run:
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT,
    )
    return Run(done.returncode, done.stdout.replace(f"{folder}/", ""))


def build(folder: Path, mkdocs: WarmMkDocs | None = None) -> Run:
    """A strict build of this folder, as scripts/build runs it."""
    if mkdocs is None:
        return run(folder, MKDOCS, "build", "--strict")
    status, output = mkdocs.run(folder, environment(), "build", "--strict")
    return Run(status, output.replace(f"{folder}/", ""))


def file_hashes(folder: Path, *parts: str, ignored: tuple[str, ...] = LOCKS) -> dict[str, str]:
    """All files below some folders of a book, each with the hash of its bytes."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for part in parts
        for path in sorted((folder / part).rglob("*"))
        if path.is_file() and not any(path.relative_to(folder / part).match(one) for one in ignored)
    }


def built_files(folder: Path) -> dict[str, str]:
    """What a build makes; equal sources make equal bytes."""
    return file_hashes(folder, "site", ".generated", ignored=LOCKS + CACHES)


def different_files(one: dict[str, str], other: dict[str, str]) -> list[str]:
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def partial_files(folder: Path) -> list[str]:
    """Half-written files and folders, which have such names."""
    paths = [*folder.glob("*.part"), *folder.glob("*.old")]
    paths += [*(folder / ".generated").rglob(f"*{PARTIAL_SUFFIX}")]
    return [path.relative_to(folder).as_posix() for path in paths]


def message_line(output: str, start: int) -> str:
    """The whole line at this position, without the prefixes of MkDocs."""
    line = output[output.rfind("\n", 0, start) + 1 :].partition("\n")[0]
    return re.sub(r"^(?:Error: |[A-Z]+ +- +|E +)", "", line)


def check_stopped(broken: Run) -> None:
    """A broken build fails, with a message instead of a traceback."""
    assert broken.status, f"the build succeeded:\n{broken.output}"
    assert "Traceback (most" not in broken.output, broken.output


def check_repaired(repaired: Run, different: list[str]) -> None:
    """Repaired, the build makes the bytes that it made before it was broken."""
    assert repaired.status == 0, f"the repaired build fails:\n{repaired.output}"
    assert not different, "the repaired build differs from the original"


class Case:
    """A copy that a fault breaks and repairs."""

    def __init__(self, folder: Path, end: ExitStack):
        self.folder, self.end = folder, end
        self.environment: dict[str, str] = {}
        self.command: tuple[str | Path, ...] = (MKDOCS, "build", "--strict")

    def run(self, *command: str | Path, **more: str) -> Run:
        return run(self.folder, *(command or self.command), **(self.environment | more))

    def start(self) -> subprocess.Popen[str]:
        """The command in a process group of its own, so that it can be killed."""
        process = subprocess.Popen(
            [*map(str, self.command)],
            cwd=self.folder,
            env=environment(**self.environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.end.callback(kill, process, signal.SIGKILL)
        return process

    def write(self, name: str, text: str, mode: int = 0o644) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def mount(self, *arguments: str, at: Path) -> None:
        subprocess.run(["mount", *arguments, str(at)], check=True)
        self.end.callback(subprocess.run, ["umount", "-l", str(at)], check=True)


def kill(process: subprocess.Popen[str], by: signal.Signals) -> Run:
    """Signal the whole process group, and wait."""
    if process.poll() is None:
        os.killpg(process.pid, by)
    output, _ = process.communicate(timeout=PATIENCE)
    return Run(process.returncode, output or "")


def fill(folder: Path, leave: int) -> Path:
    """A file that leaves so many bytes of its disk free."""
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_bsize
    path = folder / "filler"
    path.write_bytes(bytes(max(0, free - leave)))
    return path


def run_second(case: Case, first: subprocess.Popen[str], go: Path) -> Run:
    """Run a second process, which waits for the first; that ends once the file `go` exists."""
    process, output = case.start(), ""
    assert process.stdout
    for line in process.stdout:
        output += line
        if "waiting until it has ended" in line:
            break
    assert first.poll() is None, "the second did not wait for the first"
    go.touch()
    rest, _ = process.communicate(timeout=PATIENCE)
    first_output, _ = first.communicate(timeout=PATIENCE)
    assert first.returncode == 0, first_output
    return Run(process.returncode, output + rest)


# A fault is a generator: it breaks the copy, runs, yields the broken run, and repairs the copy.
Inject = Callable[[Case], Iterator[Run]]


class Fault(NamedTuple):
    """A fault, and the message of the run that it breaks."""

    inject: Inject
    message: str = ""  # none if the process is killed outright
    fails: bool = True  # otherwise the run itself repairs what is broken


class Copy(NamedTuple):
    """How a copy is broken and repaired: the original, and the command that is run."""

    original: Path
    command: tuple[str | Path, ...]
    environment: dict[str, str]


def check_fault(copy: Copy, fault: Fault, folder: Path) -> tuple[str, list[str]]:
    """Break a copy, check the run and its leftovers, repair it and run it again.

    Returns the line of the message, and the stamps that claim a finished installation.
    """
    with ExitStack() as end:
        end.callback(shutil.rmtree, folder, ignore_errors=True)
        shutil.copytree(copy.original, folder, symlinks=True)
        case = Case(folder, end)
        case.command = tuple(
            folder / part if isinstance(part, Path) and not part.is_absolute() else part
            for part in copy.command
        )
        case.environment = {
            key: value.format(folder=folder) for key, value in copy.environment.items()
        }
        before = built_files(folder)
        steps = fault.inject(case)
        broken = next(steps)
        stamps = [path.name for path in folder.glob(".venv/installed*")]
        assert fault.message in broken.output, broken.output
        assert "Traceback (most" not in broken.output, broken.output
        if fault.fails:
            assert broken.status, f"the run succeeded:\n{broken.output}"
            site = {path for path in before if path.startswith("site/")}
            now = file_hashes(folder, "site", ignored=LOCKS + CACHES)
            assert now == {path: before[path] for path in site}, "the old site has changed"
        else:
            assert broken.status == 0, broken.output
        if broken.status != -signal.SIGKILL:  # otherwise nothing could remove them
            assert not partial_files(folder)
        next(steps, None)
        repaired = case.run()
        check_repaired(repaired, different_files(before, built_files(folder)) if before else [])
        assert not partial_files(folder)
    if not fault.message:
        return "no message, and the next run succeeds", stamps
    return message_line(broken.output, broken.output.find(fault.message)), stamps


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.01)
