"""Errors of the machine during a build: a full disk, a kill, two builds, a missing program.

Each fault is real: a small file system, a signal, a network that is cut. The
message has the file and a hint, the old site is unchanged, and the next run succeeds.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sample_book
from built_pages import ROOT
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
    kill_process,
    run_command,
    run_second_process,
    wait_until,
)
from sample_book import change, module_command
from warm_mkdocs import WarmMkDocs

pytestmark = pytest.mark.slow
EXAMPLE = "snippets/examples/chapter/say.py"
UNREACHABLE_URL = "http://127.0.0.1:9/"
NEEDS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root mounts disks and cuts networks")
NEEDS_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the faults need tools of Linux")
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # In the background of a shell, all child processes would ignore Ctrl-C too.
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Building


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


def make_cache_read_only(copy: FaultyCopy) -> Iterator[CommandResult]:
    generated = copy.folder / ".generated"
    copy.mount("--bind", str(generated), at=generated)
    subprocess.run(["mount", "-o", "remount,bind,ro", str(generated)], check=True)
    yield copy.build()
    subprocess.run(["mount", "-o", "remount,bind,rw", str(generated)], check=True)


def start_endless_build(copy: FaultyCopy) -> subprocess.Popen[str]:
    """Start a build whose example has started and never ends."""
    begun = copy.folder / "begun"
    change(
        copy.folder / EXAMPLE, "from", f"open({str(begun)!r}, 'w').close()\nwhile True: pass\nfrom"
    )
    process = copy.start()
    wait_until(begun.exists)
    return process


def restore_example(copy: FaultyCopy) -> None:
    shutil.copy2(copy.folder.parent / "whole" / EXAMPLE, copy.folder / EXAMPLE)
    (copy.folder / "begun").unlink()


def kill_generate(copy: FaultyCopy) -> Iterator[CommandResult]:
    process = start_endless_build(copy)
    found = subprocess.run(
        ["pgrep", "-P", str(process.pid), "-f", "bookbuild.run.generate"],
        capture_output=True,
        text=True,
    )
    os.kill(int(found.stdout), signal.SIGKILL)
    output, _ = process.communicate(
        timeout=PROCESS_TIMEOUT
    )  # a worker that did not end would cause a timeout
    yield CommandResult(process.returncode, output)
    restore_example(copy)


def interrupt_while_generating(copy: FaultyCopy) -> Iterator[CommandResult]:
    yield kill_process(start_endless_build(copy), signal.SIGINT)
    restore_example(copy)


def remove_formula_cache(copy: FaultyCopy) -> None:
    for path in (copy.folder / ".generated/fresh/pages/en").glob("*formulas"):
        path.unlink()


def hide_node(copy: FaultyCopy) -> Iterator[CommandResult]:
    make_environment(copy)
    remove_formula_cache(copy)
    yield copy.run()
    (copy.folder / ".venv/bin/node").symlink_to(ROOT / ".venv/bin/node")


def break_node(copy: FaultyCopy) -> Iterator[CommandResult]:
    make_environment(copy)
    remove_formula_cache(copy)
    copy.write(".venv/bin/node", "#!/bin/sh\necho 'no katex' >&2\nexit 1\n", 0o755)
    yield copy.run()
    (copy.folder / ".venv/bin/node").unlink()
    (copy.folder / ".venv/bin/node").symlink_to(ROOT / ".venv/bin/node")


def remove_katex_fonts(copy: FaultyCopy) -> Iterator[CommandResult]:
    remove_formula_cache(copy)
    modules = copy.folder / "node_modules"
    modules.unlink()
    modules.mkdir()
    for package in (ROOT / "node_modules").iterdir():
        (modules / package.name).symlink_to(package)
    (modules / "katex").unlink()
    shutil.copytree(ROOT / "node_modules/katex", modules / "katex")
    shutil.rmtree(modules / "katex/dist/fonts")
    yield copy.build()
    shutil.copytree(ROOT / "node_modules/katex/dist/fonts", modules / "katex/dist/fonts")


def hide_torch(copy: FaultyCopy) -> Iterator[CommandResult]:
    copy.write("gone/torch.py", "raise ImportError('no torch')\n")
    shutil.rmtree(copy.folder / ".generated/fresh/jobs")
    yield copy.run(PYTHONPATH=str(copy.folder / "gone"))


def occupy_port(copy: FaultyCopy) -> Iterator[CommandResult]:
    taken = copy.exit_stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    address = f"127.0.0.1:{taken.getsockname()[1]}"
    yield copy.run(MKDOCS_COMMAND, "serve", "-a", address)


def make_environment(copy: FaultyCopy) -> None:
    """A .venv like the real one, but without Node."""
    real = Path(sys.prefix)
    (copy.folder / ".venv/bin").mkdir(parents=True)
    for name in ("python", "python3"):
        (copy.folder / ".venv/bin" / name).symlink_to(Path(sys.executable).resolve())
    shutil.copy(real / "pyvenv.cfg", copy.folder / ".venv")
    (copy.folder / ".venv/lib").symlink_to(real / "lib")
    copy.command = (copy.folder / ".venv/bin/python", "-m", "mkdocs", "build", "--strict")
    copy.environment["PATH"] = os.environ["PATH"]


# Faults that a build repairs itself


def run_two_builds(copy: FaultyCopy) -> Iterator[CommandResult]:
    begun, go = copy.folder / "begun", copy.folder / "go"
    waits = f"while not os.path.exists({str(go)!r}): time.sleep(0.1)\n"
    begins = f"import os, time\n\nopen({str(begun)!r}, 'w').close()\n"
    change(copy.folder / EXAMPLE, "from", f"{begins}{waits}from")
    first = copy.start()
    wait_until(begun.exists)
    yield run_second_process(copy, first, go)
    restore_example(copy)


def truncate_formula_cache(copy: FaultyCopy) -> Iterator[CommandResult]:
    cache = copy.folder / ".generated/fresh/pages/en/index.md.formulas"
    cache.write_bytes(cache.read_bytes()[:-20])
    yield copy.build()


def empty_output(copy: FaultyCopy) -> Iterator[CommandResult]:
    (copy.folder / ".generated/outputs/examples/chapter/say.txt").write_text("")
    yield copy.build()


def cut_network(copy: FaultyCopy) -> Iterator[CommandResult]:
    yield copy.run("unshare", "-n", *copy.command)


def use_c_locale(copy: FaultyCopy) -> Iterator[CommandResult]:
    other = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    shutil.rmtree(copy.folder / ".generated")
    yield copy.run(**other)


# Other commands


def mark_missing_page(copy: FaultyCopy) -> Iterator[CommandResult]:
    yield copy.run(*module_command(copy.folder, "check.pending"), "nonesuch")


def run_missing_example(copy: FaultyCopy) -> Iterator[CommandResult]:
    yield copy.run(*module_command(copy.folder, "run.generate"), "nonesuch")


def truncate_weights(copy: FaultyCopy) -> Iterator[CommandResult]:
    weights = copy.folder / "snippets/translator.safetensors"
    data = weights.read_bytes()
    weights.write_bytes(data[: len(data) // 2])
    command = (*module_command(copy.folder, "run.generate"), "translator-float16")
    copy.command = command
    yield copy.run()
    weights.write_bytes(data)


DISK_FULL_MESSAGE = "the disk is full; free some space, then run it again"
BOOK_FAULTS = {
    "a disk that is full while generating": Fault(fill_disk_while_generating, DISK_FULL_MESSAGE),
    "a cache that can't be written": Fault(
        make_cache_read_only, "the file system is read-only; make it writable, then run it"
    ),
    "killed by a lack of memory": Fault(
        kill_generate,
        "scripts/generate was killed by signal 9; is there enough memory? Run it again",
    ),
    "Ctrl-C while generating": Fault(
        interrupt_while_generating, "interrupted; finished outputs are kept"
    ),
    "no Node": Fault(hide_node, ".venv/bin/node: file not found; run git restore, or scripts/inst"),
    "a broken Node": Fault(
        break_node, "node failed; correct what it reads, or remove .venv and node_modules"
    ),
    "half of node_modules": Fault(
        remove_katex_fonts, ".ttf: file not found; run git restore, or scripts/install if"
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
    "an empty output": Fault(empty_output, "examples/chapter/say", fails=False),
    "no network at a second start": Fault(cut_network, "", fails=False),
    "a locale without UTF-8": Fault(use_c_locale, "", fails=False),
    "a missing page, marked as translated": Fault(
        mark_missing_page, "no page docs/en/nonesuch.md; use a name like attention"
    ),
    "a missing example, run": Fault(run_missing_example, "no job is named nonesuch; see --list"),
}
PROJECT_FAULTS = {
    "truncated weights": Fault(
        truncate_weights, "snippets/translator.safetensors:1: damaged weights file ("
    ),
}
STALE_FILES = {
    "weights of other code": "translator.safetensors",
    "results of other code": "results/training.json",
}
FAULTS_THAT_NEED_ROOT = (
    fill_disk_while_generating,
    make_cache_read_only,
    cut_network,
)


@pytest.fixture(scope="module")
def book_setup(tmp_path_factory: pytest.TempPathFactory, mkdocs: WarmMkDocs) -> FaultSetup:
    """The sample book, built."""
    folder = tmp_path_factory.mktemp("book") / "whole"
    sample_book.make_sample_book(folder)
    shutil.copy(ROOT / "scripts/translated", folder / "scripts")
    status, output = build(folder, mkdocs)
    assert status == 0, output
    return FaultSetup(folder, BUILD_COMMAND, {})


@pytest.fixture(scope="module")
def project_setup(tmp_path_factory: pytest.TempPathFactory) -> FaultSetup:
    """The real book, without generated and installed files."""
    folder = tmp_path_factory.mktemp("project") / "whole"
    ignored = shutil.ignore_patterns("__pycache__")
    for part in ("docs", "scripts", "snippets", "tests"):
        shutil.copytree(ROOT / part, folder / part, ignore=ignored)
    for name in ("mkdocs.yml", "package-lock.json", "pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / name, folder)
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    return FaultSetup(folder, (), {})


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[NEEDS_LINUX, NEEDS_ROOT] if fault.inject in FAULTS_THAT_NEED_ROOT else []
        )
        for name, fault in BOOK_FAULTS.items()
    ],
)
def test_a_fault_of_the_machine_is_reported_and_can_be_repaired(book_setup, mkdocs, name):
    fault = BOOK_FAULTS[name]
    folder = book_setup.original.with_name(fault.inject.__name__)
    check_fault(book_setup, fault, folder, mkdocs)


@pytest.mark.parametrize("name", PROJECT_FAULTS)
def test_a_damaged_file_is_reported(project_setup, name):
    fault = PROJECT_FAULTS[name]
    folder = project_setup.original.with_name(fault.inject.__name__)
    check_fault(project_setup, fault, folder)


@pytest.fixture(scope="module")
def run_with_changed_training_code(project_setup: FaultSetup) -> CommandResult:
    """The tests of the trained files, in a copy whose training code has changed."""
    folder = project_setup.original.with_name("changed")
    shutil.copytree(project_setup.original, folder, symlinks=True)
    with open(folder / "snippets/train.py", "a", encoding="utf-8") as file:
        file.write("CHANGED = True\n")
    options = ["-q", "-p", "no:cacheprovider", "-k", "of_the_current_code"]
    return run_command(
        folder, sys.executable, "-m", "pytest", *options, "tests/claims/test_training.py"
    )


@pytest.mark.parametrize("name", STALE_FILES)
def test_a_stale_file_is_reported(run_with_changed_training_code, name):
    """With the current code, tests/claims/test_training.py passes."""
    message = f"AssertionError: {STALE_FILES[name]} is stale; run scripts/train"
    status, output = run_with_changed_training_code
    assert status and message in output, output
