"""Errors of the machine during a build: a full disk, a kill, two builds, a missing program.

Each fault is real: a small file system, a signal, a network that is cut. The message has a hint,
the old site is unchanged, and the next run succeeds.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

import sample_book
from fault_injection import (
    BUILD_COMMAND,
    MKDOCS_COMMAND,
    PROCESS_TIMEOUT,
    CommandResult,
    Fault,
    FaultSetup,
    FaultyCopy,
    build,
    check_fault,
    fill_disk,
    run_second_process,
    wait_until,
)
from sample_book import change
from warm_mkdocs import WarmMkDocs

pytestmark = pytest.mark.slow
EXAMPLE = "snippets/examples/chapter/say.py"
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # In the background of a shell, all child processes would ignore Ctrl-C too.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def fill_disk_while_generating(copy: FaultyCopy) -> Iterator[CommandResult]:
    generated = copy.folder / ".generated"
    saved = shutil.copytree(generated, copy.folder.parent / f"{copy.folder.name}-saved")
    copy.mount("-t", "tmpfs", "-o", "size=2m", "tmpfs", at=generated)
    shutil.copytree(saved, generated, dirs_exist_ok=True)
    change(copy.folder / EXAMPLE, "double(21)", "'x' * 30000")
    filler = fill_disk(generated, leave=16000)
    yield copy.build()
    filler.unlink()
    change(copy.folder / EXAMPLE, "'x' * 30000", "double(21)")


def start_waiting_build(copy: FaultyCopy) -> subprocess.Popen[str]:
    """Start a build whose example has begun and waits for the file go."""
    begun, go = copy.folder / "begun", copy.folder / "go"
    waits = f"while not os.path.exists({str(go)!r}): time.sleep(0.1)\n"
    begins = f"import os, time\n\nopen({str(begun)!r}, 'w').close()\n"
    change(copy.folder / EXAMPLE, "from", f"{begins}{waits}from")
    process = copy.start()
    wait_until(begun.exists)
    return process


def restore_example(copy: FaultyCopy) -> None:
    shutil.copy2(copy.folder.parent / "whole" / EXAMPLE, copy.folder / EXAMPLE)
    (copy.folder / "begun").unlink()


def kill_generate(copy: FaultyCopy) -> Iterator[CommandResult]:
    process = start_waiting_build(copy)
    command = ["pgrep", "-P", str(process.pid), "-f", "bookbuild.run.generate"]
    os.kill(int(subprocess.check_output(command)), signal.SIGKILL)
    # A worker that did not end would cause a timeout.
    output, _ = process.communicate(timeout=PROCESS_TIMEOUT)
    yield CommandResult(process.returncode, output)
    restore_example(copy)


def hide_torch(copy: FaultyCopy) -> Iterator[CommandResult]:
    copy.write("gone/torch.py", "raise ImportError('no torch')\n")
    shutil.rmtree(copy.folder / ".generated/fresh/jobs")
    yield copy.run(PYTHONPATH=str(copy.folder / "gone"))


def occupy_port(copy: FaultyCopy) -> Iterator[CommandResult]:
    taken = copy.exit_stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    address = f"127.0.0.1:{taken.getsockname()[1]}"
    yield copy.run(MKDOCS_COMMAND, "serve", "-a", address)


def run_two_builds(copy: FaultyCopy) -> Iterator[CommandResult]:
    yield run_second_process(copy, start_waiting_build(copy), copy.folder / "go")
    restore_example(copy)


def truncate_formula_cache(copy: FaultyCopy) -> Iterator[CommandResult]:
    cache = copy.folder / ".generated/fresh/pages/en/index.md.formulas"
    cache.write_bytes(cache.read_bytes()[:-20])
    yield copy.build()


def cut_network(copy: FaultyCopy) -> Iterator[CommandResult]:
    yield copy.run("unshare", "-n", *copy.command)


FAULTS = {
    "a disk that is full while generating": Fault(
        fill_disk_while_generating, "the disk is full; free some space, then run it again"
    ),
    "killed by a lack of memory": Fault(
        kill_generate,
        "scripts/generate was killed by signal 9; is there enough memory? Run it again",
    ),
    "no PyTorch": Fault(
        hide_torch, "can't import torch (no torch); remove .venv and run scripts/install"
    ),
    "a port in use": Fault(
        occupy_port, "stop the process that uses it, or run scripts/serve -a 127.0.0.1"
    ),
    "two builds at once": Fault(
        run_two_builds, "another process is building the site; waiting until it has", fails=False
    ),
    "a truncated cache of formulas": Fault(truncate_formula_cache, "", fails=False),
    "no network at a second start": Fault(cut_network, "", fails=False),
}
CAN_MOUNT = sys.platform == "linux" and os.getuid() == 0


@pytest.fixture(scope="module")
def book_setup(tmp_path_factory: pytest.TempPathFactory, mkdocs: WarmMkDocs) -> FaultSetup:
    """The sample book, built."""
    folder = tmp_path_factory.mktemp("book") / "whole"
    sample_book.make_sample_book(folder)
    status, output = build(folder, mkdocs)
    assert status == 0, output
    return FaultSetup(folder, BUILD_COMMAND, {})


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_machine_is_reported_and_can_be_repaired(book_setup, mkdocs, name):
    fault = FAULTS[name]
    if fault.inject in (fill_disk_while_generating, cut_network) and not CAN_MOUNT:
        pytest.skip("only root of Linux mounts disks and cuts networks")
    folder = book_setup.original.with_name(fault.inject.__name__)
    check_fault(book_setup, fault, folder, mkdocs)
