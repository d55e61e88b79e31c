"""Errors of the machine during a build: a full disk, a kill, two builds, a missing program.

Each fault is real: a small file system, a signal, an empty PATH, a network that is cut. The
message says where and what to do, the old site stays, and repaired the next run succeeds.
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
    MKDOCS,
    PATIENCE,
    Case,
    Copy,
    Fault,
    Run,
    build,
    check_fault,
    fill,
    kill,
    run_second,
    wait_until,
)
from sample_book import change, module_command

pytestmark = pytest.mark.depends_on(*sample_book.SOURCES)
EXAMPLE = "snippets/examples/chapter/say.py"
UNREACHABLE = "http://127.0.0.1:9/"
NEEDS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root mounts disks and cuts networks")
NEEDS_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the faults need tools of Linux")
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # As in a shell's background, where all child processes would ignore Ctrl-C too.
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Building


def full_while_generating(case: Case) -> Iterator[Run]:
    generated = case.folder / ".generated"
    saved = shutil.copytree(generated, case.folder.parent / f"{case.folder.name}-saved")
    case.mount("-t", "tmpfs", "-o", "size=2m", "tmpfs", at=generated)
    shutil.copytree(saved, generated, dirs_exist_ok=True)
    change(case.folder / EXAMPLE, "double(21)", "'x' * 30000")
    filler = fill(generated, leave=16000)
    yield case.run()
    filler.unlink()
    change(case.folder / EXAMPLE, "'x' * 30000", "double(21)")


def full_while_writing_the_site(case: Case) -> Iterator[Run]:
    saved = case.folder.rename(case.folder.with_name(f"{case.folder.name}-saved"))
    case.folder.mkdir()
    case.mount("-t", "tmpfs", "-o", "size=60m", "tmpfs", at=case.folder)
    shutil.copytree(saved, case.folder, symlinks=True, dirs_exist_ok=True)
    filler = fill(case.folder, leave=1_000_000)
    yield case.run()
    filler.unlink()


def read_only(case: Case) -> Iterator[Run]:
    generated = case.folder / ".generated"
    case.mount("--bind", str(generated), at=generated)
    subprocess.run(["mount", "-o", "remount,bind,ro", str(generated)], check=True)
    yield case.run()
    subprocess.run(["mount", "-o", "remount,bind,rw", str(generated)], check=True)


def blocked(case: Case) -> subprocess.Popen[str]:
    """A build whose example has begun, and goes on forever."""
    begun = case.folder / "begun"
    change(
        case.folder / EXAMPLE, "from", f"open({str(begun)!r}, 'w').close()\nwhile True: pass\nfrom"
    )
    process = case.start()
    wait_until(begun.exists)
    return process


def unblocked(case: Case) -> None:
    shutil.copy2(case.folder.parent / "whole" / EXAMPLE, case.folder / EXAMPLE)
    (case.folder / "begun").unlink()


def killed_while_generating(case: Case) -> Iterator[Run]:
    yield kill(blocked(case), signal.SIGKILL)
    unblocked(case)


def killed_by_a_lack_of_memory(case: Case) -> Iterator[Run]:
    process = blocked(case)
    found = subprocess.run(
        ["pgrep", "-P", str(process.pid), "-f", "bookbuild.run.generate"],
        capture_output=True,
        text=True,
    )
    os.kill(int(found.stdout), signal.SIGKILL)
    output, _ = process.communicate(timeout=PATIENCE)  # the worker ends, or this would last forever
    yield Run(process.returncode, output)
    unblocked(case)


def interrupted(case: Case) -> Iterator[Run]:
    yield kill(blocked(case), signal.SIGINT)
    unblocked(case)


def killed_while_writing_the_site(case: Case) -> Iterator[Run]:
    process = case.start()
    wait_until((case.folder / "site.part" / "index.html").exists)
    yield kill(process, signal.SIGKILL)


def interrupted_while_writing_the_site(case: Case) -> Iterator[Run]:
    process = case.start()
    wait_until((case.folder / "site.part" / "index.html").exists)
    yield kill(process, signal.SIGINT)


def forget_formulas(case: Case) -> None:
    (case.folder / ".generated/cache/en/formulas.pickle").unlink()


def no_node(case: Case) -> Iterator[Run]:
    own_environment(case)
    forget_formulas(case)
    path = case.environment["PATH"]
    yield case.run(PATH="/nonexistent")
    case.environment["PATH"] = path
    (case.folder / ".venv/bin/node").symlink_to(ROOT / ".venv/bin/node")


def broken_node(case: Case) -> Iterator[Run]:
    own_environment(case)
    forget_formulas(case)
    case.write(".venv/bin/node", "#!/bin/sh\necho 'no katex' >&2\nexit 1\n", 0o755)
    yield case.run()
    (case.folder / ".venv/bin/node").unlink()
    (case.folder / ".venv/bin/node").symlink_to(ROOT / ".venv/bin/node")


def half_a_katex(case: Case) -> Iterator[Run]:
    forget_formulas(case)
    modules = case.folder / "node_modules"
    modules.unlink()
    shutil.copytree(ROOT / "node_modules/katex", modules / "katex")
    shutil.rmtree(modules / "katex/dist/fonts")
    yield case.run()
    shutil.copytree(ROOT / "node_modules/katex/dist/fonts", modules / "katex/dist/fonts")


def no_torch(case: Case) -> Iterator[Run]:
    case.write("gone/torch.py", "raise ImportError('no torch')\n")
    shutil.rmtree(case.folder / ".generated/keys")
    yield case.run(PYTHONPATH=str(case.folder / "gone"))


def a_port_that_is_taken(case: Case) -> Iterator[Run]:
    taken = case.end.enter_context(socket.create_server(("127.0.0.1", 0)))
    address = f"127.0.0.1:{taken.getsockname()[1]}"
    yield case.run(MKDOCS, "serve", "-a", address)


def own_environment(case: Case) -> None:
    """A .venv like the real one, but for its Node."""
    real = Path(sys.prefix)
    (case.folder / ".venv/bin").mkdir(parents=True)
    for name in ("python", "python3"):
        (case.folder / ".venv/bin" / name).symlink_to(Path(sys.executable).resolve())
    shutil.copy(real / "pyvenv.cfg", case.folder / ".venv")
    (case.folder / ".venv/lib").symlink_to(real / "lib")
    case.command = (case.folder / ".venv/bin/python", "-m", "mkdocs", "build", "--strict")
    case.environment["PATH"] = os.environ["PATH"]


# What a build repairs itself: it succeeds


def two_builds(case: Case) -> Iterator[Run]:
    begun, go = case.folder / "begun", case.folder / "go"
    waits = f"while not os.path.exists({str(go)!r}): time.sleep(0.1)\n"
    begins = f"import os, time\n\nopen({str(begun)!r}, 'w').close()\n"
    change(case.folder / EXAMPLE, "from", f"{begins}{waits}from")
    first = case.start()
    wait_until(begun.exists)
    yield run_second(case, first, go)
    unblocked(case)


def a_damaged_cache(case: Case) -> Iterator[Run]:
    cache = case.folder / ".generated/cache/en/formulas.pickle"
    cache.write_bytes(cache.read_bytes()[:-20])
    yield case.run()


def a_damaged_output(case: Case) -> Iterator[Run]:
    (case.folder / ".generated/outputs/examples/chapter/say.txt").write_text("")
    yield case.run()


def no_network(case: Case) -> Iterator[Run]:
    yield case.run("unshare", "-n", *case.command)


def another_locale(case: Case) -> Iterator[Run]:
    other = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    shutil.rmtree(case.folder / ".generated")
    yield case.run(**other)


# Other commands


def no_such_page(case: Case) -> Iterator[Run]:
    yield case.run(*module_command(case.folder, "check.review"), "nonesuch")


def no_such_example(case: Case) -> Iterator[Run]:
    yield case.run(*module_command(case.folder, "run.generate"), "nonesuch")


def no_browser(case: Case) -> Iterator[Run]:
    """scripts/test stops before the long build."""
    own_environment(case)
    case.command = (case.folder / "scripts/test",)
    for name in ("install", "build"):
        case.write(f"scripts/{name}", "#!/bin/sh\n", 0o755)
    case.write("scripts/bookbuild/publish/__main__.py", "")
    shutil.copy(ROOT / "scripts/publish", case.folder / "scripts")
    for name in ("pre-commit", "pytest"):
        case.write(f".venv/bin/{name}", "#!/bin/sh\n", 0o755)
    modules = case.folder / "node_modules"
    modules.unlink()
    modules.mkdir()
    yield case.run()
    (modules / "@sparticuz").symlink_to(ROOT / "node_modules/@sparticuz")


def truncated_weights(case: Case) -> Iterator[Run]:
    weights = case.folder / "snippets/translator.safetensors"
    data = weights.read_bytes()
    weights.write_bytes(data[: len(data) // 2])
    command = (*module_command(case.folder, "run.generate"), "translator-float16")
    case.command = command
    yield case.run()
    weights.write_bytes(data)


def stale_weights(case: Case) -> Iterator[Run]:
    case.command = (
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
        "tests/claims/test_training.py", "-k", "of_the_current_code",
    )  # fmt: skip
    train = case.folder / "snippets/train.py"
    kept = train.read_text(encoding="utf-8")
    train.write_text(f"{kept}CHANGED = True\n", encoding="utf-8")
    yield case.run()
    train.write_text(kept, encoding="utf-8")


def stale_results(case: Case) -> Iterator[Run]:
    case.command = (
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
        "tests/claims/test_training.py", "-k", "are_of_the_current_code",
    )  # fmt: skip
    change(case.folder / "snippets/results/training.json", '"key": "', '"key": "0')
    yield case.run()
    change(case.folder / "snippets/results/training.json", '"key": "0', '"key": "')


DISK = "the disk is full; free some space, then run it again"
BOOK_FAULTS = {
    "a disk that is full while generating": Fault(full_while_generating, DISK),
    "a disk that is full while the site is written": Fault(full_while_writing_the_site, DISK),
    "a cache that can't be written": Fault(
        read_only, "the file system is read-only; make it writable, then run it"
    ),
    "killed while generating": Fault(killed_while_generating, ""),
    "killed by a lack of memory": Fault(
        killed_by_a_lack_of_memory,
        "scripts/generate was killed by signal 9; is there enough memory? Run it again",
    ),
    "Ctrl-C while generating": Fault(interrupted, "interrupted; finished outputs are kept"),
    "killed while the site is written": Fault(killed_while_writing_the_site, ""),
    "Ctrl-C while the site is written": Fault(interrupted_while_writing_the_site, "Aborted!"),
    "no Node": Fault(no_node, "Node.js not found in .venv or on the PATH; run scripts/inst"),
    "a Node that doesn't run": Fault(
        broken_node, "KaTeX did not run; remove node_modules and run scripts/install. Node"
    ),
    "half of node_modules": Fault(half_a_katex, ".ttf is missing; run scripts/install"),
    "no PyTorch": Fault(
        no_torch, "can't import torch (no torch); remove .venv and run scripts/install"
    ),
    "a port that is taken": Fault(
        a_port_that_is_taken, "stop the process that uses it, or run scripts/serve -a 127.0.0.1"
    ),
    "two builds at once": Fault(
        two_builds, "another process is building the site; waiting until it has", fails=False
    ),
    "a cache of formulas cut short": Fault(a_damaged_cache, "", fails=False),
    "an output that is emptied": Fault(a_damaged_output, "examples/chapter/say", fails=False),
    "no network at a second start": Fault(no_network, "", fails=False),
    "a machine that isn't in UTF-8": Fault(another_locale, "", fails=False),
    "a page that isn't there, stamped": Fault(
        no_such_page, "no page docs/en/nonesuch.md; use a name like attention"
    ),
    "an example that isn't there, run": Fault(
        no_such_example, "no job is named nonesuch; see --list"
    ),
    "no browser": Fault(
        no_browser, "node_modules/@sparticuz/chromium is missing: run scripts/install --test"
    ),
}
PROJECT_FAULTS = {
    "weights that are cut short": Fault(
        truncated_weights, "snippets/translator.safetensors:1: damaged weights file ("
    ),
    "weights of other code": Fault(
        stale_weights,
        "AssertionError: translator.safetensors is stale; run scripts/train",
    ),
    "results of other code": Fault(
        stale_results,
        "AssertionError: results/training.json is stale; run scripts/train",
    ),
}
AS_ROOT = (full_while_generating, full_while_writing_the_site, read_only, no_network)


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """The sample book, built."""
    folder = tmp_path_factory.mktemp("book") / "whole"
    sample_book.make(folder)
    for name in ("translated", "test"):
        shutil.copy(ROOT / "scripts" / name, folder / "scripts")
    status, output = build(folder)
    assert status == 0, output
    return Copy(folder, (MKDOCS, "build", "--strict"), {})


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """The book itself, without what is generated and installed."""
    folder = tmp_path_factory.mktemp("project") / "whole"
    ignored = shutil.ignore_patterns("__pycache__")
    for part in ("docs", "scripts", "snippets", "tests"):
        shutil.copytree(ROOT / part, folder / part, ignore=ignored)
    for name in ("mkdocs.yml", "package-lock.json", "pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / name, folder)
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    return Copy(folder, (), {})


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[NEEDS_LINUX, NEEDS_ROOT] if fault.inject in AS_ROOT else [])
        for name, fault in BOOK_FAULTS.items()
    ],
)
def test_a_fault_of_the_machine_is_reported_and_can_be_repaired(book, record_property, name):
    fault = BOOK_FAULTS[name]
    folder = book.original.with_name(fault.inject.__name__)
    message, _ = check_fault(book, fault, folder)
    record_property("message", message)


@pytest.mark.depends_on(
    "docs/**/*", "scripts/**/*", "snippets/**/*", "tests/**/*", "*.yml", "*.toml"
)
@pytest.mark.parametrize("name", PROJECT_FAULTS)
def test_a_stale_or_damaged_file_is_reported(project, record_property, name):
    fault = PROJECT_FAULTS[name]
    folder = project.original.with_name(fault.inject.__name__)
    message, _ = check_fault(project, fault, folder)
    record_property("message", message)
