"""Breaks a copy of the sample book, checks the message and the files, repairs and rebuilds it."""

import hashlib
import os
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
from warm_mkdocs import COMMAND_TIMEOUT, WarmMkDocs

PROCESS_TIMEOUT = 120  # seconds, on a busy machine
MKDOCS_COMMAND = Path(sys.executable).with_name("mkdocs")
BUILD_COMMAND = (MKDOCS_COMMAND, "build", "--strict")
# Files that may differ between equal builds: locks, and records and caches that only save time.
LOCK_PATTERNS = ("*.lock", "lock", "installing")
CACHE_PATTERNS = tuple("fresh" + n * "/*" for n in range(1, 5))


class CommandResult(NamedTuple):
    """The exit status and the output of a command."""

    status: int
    output: str


def build_environment(**more: str) -> dict[str, str]:
    """Environment variables that make builds reproducible."""
    quiet = {"NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1", "SOURCE_DATE_EPOCH": "1700000000"}
    return os.environ | quiet | more


def run_command(folder: Path, *command: str | Path, **more: str) -> CommandResult:
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env=build_environment(**more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=COMMAND_TIMEOUT,
    )
    return CommandResult(done.returncode, done.stdout.replace(f"{folder}/", ""))


def build(folder: Path, mkdocs: WarmMkDocs | None = None, **more: str) -> CommandResult:
    """A strict build of this folder, as scripts/build runs it."""
    if mkdocs is None:
        return run_command(folder, *BUILD_COMMAND, **more)
    status, output = mkdocs.run(folder, build_environment(**more), "build", "--strict")
    return CommandResult(status, output.replace(f"{folder}/", ""))


def file_hashes(
    folder: Path, *parts: str, ignored: tuple[str, ...] = LOCK_PATTERNS
) -> dict[str, str]:
    """All files below some folders of a book, each with the hash of its bytes."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for part in parts
        for path in sorted((folder / part).rglob("*"))
        if path.is_file() and not any(path.relative_to(folder / part).match(one) for one in ignored)
    }


def built_files(folder: Path) -> dict[str, str]:
    """The hashes of all files that a build writes, except locks and caches."""
    return file_hashes(folder, "site", ".generated", ignored=LOCK_PATTERNS + CACHE_PATTERNS)


def different_files(one: dict[str, str], other: dict[str, str]) -> list[str]:
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def partial_files(folder: Path) -> list[str]:
    """Temporary files and folders that a build has not finished, by their names."""
    paths = [*folder.glob("*.part"), *folder.glob("*.old")]
    paths += [*(folder / ".generated").rglob(f"*{PARTIAL_SUFFIX}")]
    return [path.relative_to(folder).as_posix() for path in paths]


def check_stopped(broken: CommandResult) -> None:
    """A broken build fails, with a message instead of a traceback."""
    assert broken.status, f"the build succeeded:\n{broken.output}"
    assert "Traceback (most" not in broken.output, broken.output


def check_repaired(repaired: CommandResult, different: list[str]) -> None:
    """The repaired build succeeds and writes the same bytes as before the fault."""
    assert repaired.status == 0, f"the repaired build fails:\n{repaired.output}"
    assert not different, "the repaired build differs from the original"


class FaultyCopy:
    """A copy of a book or a project that a fault breaks and repairs."""

    def __init__(self, folder: Path, exit_stack: ExitStack, mkdocs: WarmMkDocs | None = None):
        self.folder, self.exit_stack, self.mkdocs = folder, exit_stack, mkdocs
        self.environment: dict[str, str] = {}
        self.command: tuple[str | Path, ...] = BUILD_COMMAND

    def build(self) -> CommandResult:
        """Like run(), but faster; not for faults of the process or of what it imports."""
        if self.command == BUILD_COMMAND:
            return build(self.folder, self.mkdocs, **self.environment)
        return self.run()

    def run(self, *command: str | Path, **more: str) -> CommandResult:
        return run_command(self.folder, *(command or self.command), **(self.environment | more))

    def start(self) -> subprocess.Popen[str]:
        """The command in a process group of its own, so that it can be killed."""
        process = subprocess.Popen(
            [*map(str, self.command)],
            cwd=self.folder,
            env=build_environment(**self.environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.exit_stack.callback(kill_process, process, signal.SIGKILL)
        return process

    def write(self, name: str, text: str, mode: int = 0o644) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def mount(self, *arguments: str, at: Path) -> None:
        subprocess.run(["mount", *arguments, str(at)], check=True)
        self.exit_stack.callback(subprocess.run, ["umount", "-l", str(at)], check=True)


def kill_process(process: subprocess.Popen[str], by: signal.Signals) -> CommandResult:
    """Send the signal to the whole process group, and wait."""
    if process.poll() is None:
        os.killpg(process.pid, by)
    output, _ = process.communicate(timeout=PROCESS_TIMEOUT)
    return CommandResult(process.returncode, output or "")


def fill_disk(folder: Path, leave: int) -> Path:
    """Write a file that leaves this many bytes of its disk free."""
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_bsize
    path = folder / "filler"
    path.write_bytes(bytes(max(0, free - leave)))
    return path


def run_second_process(
    copy: FaultyCopy, first: subprocess.Popen[str], release_file: Path
) -> CommandResult:
    """Run a second process, which waits for the first; the first ends once release_file exists."""
    process, output = copy.start(), ""
    assert process.stdout
    for line in process.stdout:
        output += line
        if "waiting until it has ended" in line:
            break
    assert first.poll() is None, "the second process did not wait for the first"
    release_file.touch()
    rest, _ = process.communicate(timeout=PROCESS_TIMEOUT)
    first_output, _ = first.communicate(timeout=PROCESS_TIMEOUT)
    assert first.returncode == 0, first_output
    return CommandResult(process.returncode, output + rest)


# A fault is a generator: it breaks the copy, runs, yields the broken run, and repairs the copy.
InjectFault = Callable[[FaultyCopy], Iterator[CommandResult]]


class Fault(NamedTuple):
    """A fault, and the message of the run that it breaks."""

    inject: InjectFault
    message: str = ""  # empty if the process is killed before it can print one
    fails: bool = True  # otherwise the run itself repairs the fault


class FaultSetup(NamedTuple):
    """What faults are injected into: the original folder, and the command that is run."""

    original: Path
    command: tuple[str | Path, ...]
    environment: dict[str, str]


def check_fault(
    setup: FaultSetup, fault: Fault, folder: Path, mkdocs: WarmMkDocs | None = None
) -> list[str]:
    """Break a copy, check the run and its remaining files, repair it and run it again.

    Returns the stamps that claim a finished installation after the broken run.
    """
    with ExitStack() as exit_stack:
        exit_stack.callback(shutil.rmtree, folder, ignore_errors=True)
        shutil.copytree(setup.original, folder, symlinks=True)
        copy = FaultyCopy(folder, exit_stack, mkdocs)
        copy.command = tuple(
            folder / part if isinstance(part, Path) and not part.is_absolute() else part
            for part in setup.command
        )
        copy.environment = {
            key: value.format(folder=folder) for key, value in setup.environment.items()
        }
        before = built_files(folder)
        steps = fault.inject(copy)
        broken = next(steps)
        stamps = [path.name for path in folder.glob(".venv/installed*")]
        assert fault.message in broken.output, broken.output
        assert "Traceback (most" not in broken.output, broken.output
        if fault.fails:
            assert broken.status, f"the run succeeded:\n{broken.output}"
            site = {path for path in before if path.startswith("site/")}
            now = file_hashes(folder, "site", ignored=LOCK_PATTERNS + CACHE_PATTERNS)
            assert now == {path: before[path] for path in site}, "the old site has changed"
        else:
            assert broken.status == 0, broken.output
        if broken.status != -signal.SIGKILL:  # otherwise nothing could remove them
            assert not partial_files(folder)
        next(steps, None)
        repaired = copy.build()
        check_repaired(repaired, different_files(before, built_files(folder)) if before else [])
        assert not partial_files(folder)
    return stamps


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PROCESS_TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.01)
