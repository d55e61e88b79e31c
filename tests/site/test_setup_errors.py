"""Errors of the machine during a build: no PyTorch, a port in use, two builds at once.

The message has a hint, the old site is unchanged, and the next run succeeds.
"""

import shutil
import socket
import subprocess
from pathlib import Path

import pytest

import sample_book
from fault_injection import (
    BUILD_COMMAND,
    MKDOCS_COMMAND,
    build,
    built_files,
    check_repaired,
    check_stopped,
    finish_command,
    run_command,
    start_command,
    wait_until,
)
from sample_book import change

pytestmark = pytest.mark.slow
EXAMPLE = "snippets/examples/chapter/say.py"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """The sample book, built."""
    folder = sample_book.make_sample_book(tmp_path / "book")
    status, output = build(folder)
    assert status == 0, output
    return folder


@pytest.fixture
def before(book: Path) -> dict[str, str]:
    return built_files(book)


def test_without_pytorch_a_build_names_the_command_that_installs_it(book, before):
    (book / "gone").mkdir()
    (book / "gone/torch.py").write_text("raise ImportError('no torch')\n")
    shutil.rmtree(book / ".generated/fresh/jobs")
    broken = build(book, PYTHONPATH=str(book / "gone"))
    assert "can't import torch (no torch); remove .venv and run scripts/install" in broken.output
    check_stopped(book, broken, before)
    check_repaired(book, before)


def test_a_server_names_the_command_for_another_port_if_its_own_is_in_use(book, before):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        broken = run_command(book, MKDOCS_COMMAND, "serve", "-a", address)
    assert "stop the process that uses it, or run scripts/serve -a 127.0.0.1" in broken.output
    check_stopped(book, broken, before)


def start_waiting_build(book: Path) -> subprocess.Popen[str]:
    """Start a build whose example has begun and waits for the file go."""
    begins = "import os, time\n\nopen({!r}, 'w').close()\n".format(str(book / "begun"))
    waits = "while not os.path.exists({!r}): time.sleep(0.1)\n".format(str(book / "go"))
    change(book / EXAMPLE, "from", f"{begins}{waits}from")
    process = start_command(book, *BUILD_COMMAND)
    wait_until((book / "begun").exists)
    return process


def test_of_two_builds_the_second_waits_for_the_first(book, before):
    first = start_waiting_build(book)
    second = start_command(book, *BUILD_COMMAND)
    assert second.stdout
    next(line for line in second.stdout if "waiting until it has ended" in line)
    assert first.poll() is None, "the second process did not wait for the first"
    (book / "go").touch()
    for process in (first, second):
        status, output = finish_command(process)
        assert status == 0, output
    (book / EXAMPLE).write_text(sample_book.FILES[EXAMPLE])
    check_repaired(book, before)
