"""What may go wrong with the machine: a full disk, a kill, two at once, something not installed.

Each row breaks a copy of a small book, or of the installer and its lists, for real: by a small
file system, a signal, an empty PATH, a network that is cut. What is told names the place and what
to do, the old site stays, no stamp claims what isn't there, and mended the next run succeeds.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

import sample_book
from built_pages import ROOT
from fault_injection import (
    MKDOCS,
    PATIENCE,
    Outcome,
    Run,
    build,
    chosen,
    environment,
    halves,
    run,
    told_line,
    tree,
    unlike,
    until,
)
from sample_book import change, module_command

SAY = "snippets/examples/chapter/say.py"
NOWHERE = "http://127.0.0.1:9/"  # nobody answers there
CLOSED = {"PIP_INDEX_URL": NOWHERE, "PIP_RETRIES": "0", "PIP_NO_INDEX": "", "PIP_FIND_LINKS": ""}
ROOT_ALONE = pytest.mark.skipif(os.getuid() != 0, reason="mounts and networks are root's alone")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="it is made by tools of Linux")
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # As in a shell's background; all that is started here would ignore Ctrl-C too.
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Case:
    """A copy that is broken and mended: what a row is given."""

    def __init__(self, folder: Path, end: ExitStack):
        self.folder, self.end = folder, end
        self.environment: dict[str, str] = {}
        self.command: tuple[str | Path, ...] = (MKDOCS, "build", "--strict")

    def run(self, *command: str | Path, **more: str) -> Run:
        return run(self.folder, *(command or self.command), **(self.environment | more))

    def start(self) -> subprocess.Popen[str]:
        """The command in a group of its own, to be killed."""
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
    """Signals the whole group; what it came to."""
    if process.poll() is None:
        os.killpg(process.pid, by)
    told, _ = process.communicate(timeout=PATIENCE)
    return Run(process.returncode, told or "")


def fill(folder: Path, leave: int) -> Path:
    """A file that leaves so many bytes of its disk free."""
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_bsize
    path = folder / "filler"
    path.write_bytes(bytes(max(0, free - leave)))
    return path


# A row is a generator: it breaks, runs, yields what the broken run came to, and mends.
Row = Callable[[Case], Iterator[Run]]


# Building


def full_while_generating(case: Case) -> Iterator[Run]:
    generated = case.folder / ".generated"
    saved = shutil.copytree(generated, case.folder.parent / f"{case.folder.name}-saved")
    case.mount("-t", "tmpfs", "-o", "size=2m", "tmpfs", at=generated)
    shutil.copytree(saved, generated, dirs_exist_ok=True)
    change(case.folder / SAY, "double(21)", "'x' * 30000")
    filler = fill(generated, leave=16000)
    yield case.run()
    filler.unlink()
    change(case.folder / SAY, "'x' * 30000", "double(21)")


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
    """A build whose example has begun, and goes on for ever."""
    begun = case.folder / "begun"
    change(case.folder / SAY, "from", f"open({str(begun)!r}, 'w').close()\nwhile True: pass\nfrom")
    process = case.start()
    until(begun.exists)
    return process


def unblocked(case: Case) -> None:
    shutil.copy2(case.folder.parent / "whole" / SAY, case.folder / SAY)
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
    told, _ = process.communicate(timeout=PATIENCE)  # the worker ends, or this would last for ever
    yield Run(process.returncode, told)
    unblocked(case)


def interrupted(case: Case) -> Iterator[Run]:
    yield kill(blocked(case), signal.SIGINT)
    unblocked(case)


def killed_while_writing_the_site(case: Case) -> Iterator[Run]:
    process = case.start()
    until((case.folder / "site.part" / "index.html").exists)
    yield kill(process, signal.SIGKILL)


def interrupted_while_writing_the_site(case: Case) -> Iterator[Run]:
    process = case.start()
    until((case.folder / "site.part" / "index.html").exists)
    yield kill(process, signal.SIGINT)


def no_node(case: Case) -> Iterator[Run]:
    own_environment(case)
    (case.folder / ".generated/formulas.json").unlink()
    path = case.environment["PATH"]
    yield case.run(PATH="/nonexistent")
    case.environment["PATH"] = path
    (case.folder / ".venv/bin/node").symlink_to(ROOT / ".venv/bin/node")


def broken_node(case: Case) -> Iterator[Run]:
    own_environment(case)
    (case.folder / ".generated/formulas.json").unlink()
    case.write(".venv/bin/node", "#!/bin/sh\necho 'no katex' >&2\nexit 1\n", 0o755)
    yield case.run()
    (case.folder / ".venv/bin/node").unlink()
    (case.folder / ".venv/bin/node").symlink_to(ROOT / ".venv/bin/node")


def half_a_katex(case: Case) -> Iterator[Run]:
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


# What is mended by itself: the run succeeds


def second(case: Case, first: subprocess.Popen[str], go: Path) -> Run:
    """A second process that waits for the first, which ends when it may go."""
    process, told = case.start(), ""
    assert process.stdout
    for line in process.stdout:
        told += line
        if "waiting until it has ended" in line:
            break
    assert first.poll() is None, "the first has not been waited for"
    go.touch()
    rest, _ = process.communicate(timeout=PATIENCE)
    of_first, _ = first.communicate(timeout=PATIENCE)
    assert first.returncode == 0, of_first
    return Run(process.returncode, told + rest)


def two_builds(case: Case) -> Iterator[Run]:
    begun, go = case.folder / "begun", case.folder / "go"
    waits = f"while not os.path.exists({str(go)!r}): time.sleep(0.1)\n"
    begins = f"import os, time\n\nopen({str(begun)!r}, 'w').close()\n"
    change(case.folder / SAY, "from", f"{begins}{waits}from")
    first = case.start()
    until(begun.exists)
    yield second(case, first, go)
    unblocked(case)


def a_damaged_cache(case: Case) -> Iterator[Run]:
    cache = case.folder / ".generated/formulas.json"
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


# Installing


def old_python(case: Case) -> Iterator[Run]:
    old = case.write("old/python3", '#!/bin/sh\ncase "$1" in -c) exit 1 ;; esac\n', 0o755)
    yield case.run(PYTHON=str(old))


def no_python(case: Case) -> Iterator[Run]:
    tools = case.folder / "tools"
    tools.mkdir()
    for name in ("cat", "cksum", "dirname", "find", "grep", "ls", "mkdir", "rm", "sh", "uname"):
        (tools / name).symlink_to(shutil.which(name) or name)
    yield case.run(PATH=str(tools), PYTHON="")


def another_hash(case: Case) -> Iterator[Run]:
    change(case.folder / "requirements.txt", "sha256:", "sha256:00")
    yield case.run()
    change(case.folder / "requirements.txt", "sha256:00", "sha256:")


def a_pin_that_is_not_there(case: Case) -> Iterator[Run]:
    change(case.folder / "requirements.txt", "tiny==1.0", "tiny==9.9")
    yield case.run()
    change(case.folder / "requirements.txt", "tiny==9.9", "tiny==1.0")


def no_network_at_first(case: Case) -> Iterator[Run]:
    yield case.run(**CLOSED)


def no_npm(case: Case) -> Iterator[Run]:
    yield case.run(NPM="fail")


def no_lock(case: Case) -> Iterator[Run]:
    lock = case.folder / "package-lock.json"
    kept = lock.read_text()
    lock.unlink()
    yield case.run()
    lock.write_text(kept)


def killed_in_pip(case: Case) -> Iterator[Run]:
    """At an index that never answers."""
    silent = case.end.enter_context(socket.create_server(("127.0.0.1", 0)))
    before = case.environment
    index = f"http://127.0.0.1:{silent.getsockname()[1]}/"
    case.environment = before | CLOSED | {"PIP_INDEX_URL": index}
    process = case.start()
    silent.settimeout(PATIENCE)
    silent.accept()
    yield kill(process, signal.SIGKILL)
    case.environment = before


def killed_between_pip_and_npm(case: Case) -> Iterator[Run]:
    before = case.environment
    case.environment = before | {"NPM": "wait"}
    process = case.start()
    until((case.folder / "node_modules").exists)
    yield kill(process, signal.SIGKILL)
    case.environment = before


def installed(case: Case) -> None:
    done = case.run()
    assert done.status == 0, done.told
    quiet = case.run()
    assert quiet == Run(0, ""), "what is installed is installed again"


def python_gone(case: Case) -> Iterator[Run]:
    installed(case)
    (case.folder / ".venv/bin/python").unlink()
    (case.folder / ".venv/bin/python").symlink_to("/nonexistent/python3.9")
    yield case.run()


def python_too_old(case: Case) -> Iterator[Run]:
    """It has no stamp of this installer."""
    case.write(".venv/bin/python", "#!/bin/sh\nexit 1\n", 0o755)
    yield case.run()


def package_gone(case: Case) -> Iterator[Run]:
    installed(case)
    (package,) = case.folder.glob(".venv/lib/python3*/site-packages/tiny.py")
    package.unlink()
    yield case.run()
    assert package.exists()


def module_gone(case: Case) -> Iterator[Run]:
    installed(case)
    (case.folder / "node_modules/katex/katex.js").unlink()
    yield case.run()
    assert (case.folder / "node_modules/katex/katex.js").exists()


def two_installations(case: Case) -> Iterator[Run]:
    before = case.environment
    case.environment = before | {"NPM": "slow"}
    first = case.start()
    until((case.folder / "node_modules").exists)
    yield second(case, first, case.folder / "go")
    case.environment = before


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
    for name in ("cards", "editions", "sbom"):
        case.write(f"scripts/bookbuild/publish/{name}.py", "")
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


class Told(NamedTuple):
    """Of a row: how it is broken, in a copy of what, and what is to be told."""

    row: Row
    of: str  # book, lists, project
    says: str  # nothing of what was killed outright: it can't tell
    stops: bool = True


DISK = "the disk is full; free some space, then run it again"
PIP = "scripts/install: pip could not install the packages (see above). Is there a network?"
FAULTS = {
    "a disk that is full while generating": Told(full_while_generating, "book", DISK),
    "a disk that is full while the site is written": Told(
        full_while_writing_the_site, "book", DISK
    ),
    "a cache that can't be written": Told(
        read_only, "book", "it lies where nothing can be written; make it writable, then run it"
    ),
    "killed while generating": Told(killed_while_generating, "book", ""),
    "killed by a lack of memory": Told(
        killed_by_a_lack_of_memory,
        "book",
        "scripts/generate was killed by signal 9; is there memory enough? Run it again",
    ),
    "Ctrl-C while generating": Told(
        interrupted, "book", "interrupted; what was made is kept, the rest follows"
    ),
    "killed while the site is written": Told(killed_while_writing_the_site, "book", ""),
    "Ctrl-C while the site is written": Told(
        interrupted_while_writing_the_site, "book", "Aborted!"
    ),
    "no Node": Told(no_node, "book", "no Node, neither in .venv nor on the PATH; run scripts/inst"),
    "a Node that doesn't run": Told(
        broken_node, "book", "KaTeX did not run; remove node_modules and run scripts/install. Node"
    ),
    "half of node_modules": Told(half_a_katex, "book", ".ttf isn't there; run scripts/install"),
    "no PyTorch": Told(
        no_torch, "book", "torch can't be loaded (no torch); remove .venv and run scripts/install"
    ),
    "a port that is taken": Told(
        a_port_that_is_taken, "book", "end what has it, or take another: scripts/serve -a 127.0.0.1"
    ),
    "two builds at once": Told(
        two_builds, "book", "another process is building the site; waiting until it has", False
    ),
    "a cache of formulas cut short": Told(a_damaged_cache, "book", "", False),
    "an output that is emptied": Told(a_damaged_output, "book", "examples/chapter/say", False),
    "no network at a second start": Told(no_network, "book", "", False),
    "a machine that isn't in UTF-8": Told(another_locale, "book", "", False),
    "an old Python": Told(old_python, "lists", "Python 3.11.5 or newer is needed, not "),
    "no Python": Told(
        no_python, "lists", "Python 3.11.5 or newer is needed; PYTHON=path/to/python selects one"
    ),
    "a package of another hash": Told(another_hash, "lists", PIP),
    "a mistyped pin": Told(a_pin_that_is_not_there, "lists", PIP),
    "no network at the first start": Told(no_network_at_first, "lists", PIP),
    "no network for npm": Told(
        no_npm, "lists", "scripts/install: npm could not install package-lock.json (see above). Is "
    ),
    "a lock that is gone": Told(
        no_lock,
        "lists",
        "package-lock.json is missing; restore it with git restore package-lock.js",
    ),
    "an installation killed in pip": Told(killed_in_pip, "lists", ""),
    "an installation killed between pip and npm": Told(killed_between_pip_and_npm, "lists", ""),
    "a .venv whose Python is gone": Told(
        python_gone, "lists", "== .venv is damaged: .venv/bin/python is missing", False
    ),
    "a .venv of an old Python": Told(python_too_old, "lists", "== .venv is incomplete", False),
    "a package that was deleted": Told(package_gone, "lists", "tiny.py is missing", False),
    "a part of node_modules that was deleted": Told(
        module_gone,
        "lists",
        "== node_modules is damaged: node_modules/katex/katex.js is missing",
        False,
    ),
    "two installations at once": Told(
        two_installations, "lists", "another process is installing; waiting until it has", False
    ),
    "a page that isn't there, stamped": Told(
        no_such_page, "book", "no page docs/en/nonesuch.md; use a name like attention"
    ),
    "an example that isn't there, run": Told(
        no_such_example, "book", "nothing is named nonesuch; see --list"
    ),
    "no browser": Told(
        no_browser, "book", "node_modules/@sparticuz/chromium is missing: run scripts/install --tes"
    ),
    "weights that are cut short": Told(
        truncated_weights, "project", "snippets/translator.safetensors:1: is damaged ("
    ),
    "weights of other code": Told(
        stale_weights,
        "project",
        "AssertionError: translator.safetensors is stale; run scripts/train",
    ),
    "results of other code": Told(
        stale_results,
        "project",
        "AssertionError: results/training.json is stale; run scripts/train",
    ),
}
AS_ROOT = (full_while_generating, full_while_writing_the_site, read_only, no_network)


# The copies that are broken


def make_book(folder: Path) -> Path:
    """A small book, built."""
    sample_book.make(folder)
    for name in ("translated", "test"):
        shutil.copy(ROOT / "scripts" / name, folder / "scripts")
    done = build(folder)
    assert done.status == 0, done.told
    return folder


NPM = """#!/bin/sh
# In the place of npm ci: it wipes node_modules and fills it, as the variable NPM says.
rm -rf node_modules
mkdir -p node_modules/katex
case "${NPM:-}" in
  wait) sleep 600 ;;
  slow) until [ -e go ]; do sleep 0.1; done ;;
  fail) exit 1 ;;
esac
echo > node_modules/katex/katex.js
"""
PYTHON = """#!/bin/sh
# The machine's Python; a new environment it copies, which takes less time than making one.
case "$*" in
  "-m venv --clear .venv") rm -rf .venv/* && mkdir -p .venv && exec cp -a {template}/. .venv ;;
esac
exec {python} "$@"
"""


def make_lists(folder: Path) -> Path:
    """The installer with a list of one package, a real pip, and a file in the place of npm."""
    python = Path(sys.executable).resolve()
    template = folder.parent / "template"
    subprocess.run([python, "-m", "venv", template], check=True)
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts/install", folder / "scripts")
    (folder / "package-lock.json").write_text("{}\n")
    wheels = folder / "wheels"
    wheels.mkdir()
    tiny = wheel(wheels, "tiny", "1.0")
    wheel(wheels, "torch", "2.13.0")
    digest = subprocess.run(
        [python, "-m", "pip", "hash", tiny], capture_output=True, text=True, check=True
    ).stdout.split("--hash=")[1]
    (folder / "requirements.txt").write_text(f"tiny==1.0 --hash={digest}")
    (folder / "requirements-test.txt").touch()
    for name, text in (("npm", NPM), ("python3", PYTHON)):
        path = folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.format(template=template, python=python) if name != "npm" else text)
        path.chmod(0o755)
    return folder


def wheel(folder: Path, name: str, version: str) -> Path:
    """A package of one empty module."""
    path, about = folder / f"{name}-{version}-py3-none-any.whl", f"{name}-{version}.dist-info"
    texts = {
        f"{name}.py": "",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in texts.items():
            archive.writestr(file, text)
    return path


def make_project(folder: Path) -> Path:
    """The book itself, without what is made and installed."""
    parts = "docs", "scripts", "snippets", "tests"
    for part in parts:
        leave = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, folder / part, ignore=leave)
    for name in ("mkdocs.yml", "package-lock.json", "pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / name, folder)
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    return folder


MAKE = {"book": make_book, "lists": make_lists, "project": make_project}


def prepared(case: Case, of: str) -> None:
    """How the command of a copy is called."""
    if of == "lists":
        case.command = (case.folder / "scripts/install",)
        case.environment = {
            "PATH": f"{case.folder / 'bin'}:{os.environ['PATH']}",
            "PYTHON": str(case.folder / "bin/python3"),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(case.folder / "wheels"),
            "PIP_CACHE_DIR": str(case.folder / "cache"),
        }


class Result(NamedTuple):
    outcome: Outcome
    stamps: list[str]  # what claimed to be installed after the broken run


def broken(wholes: dict[str, Future[Path]], fault: str) -> Result:
    """Break a copy, look, mend it, run it again."""
    row, of, _, _ = FAULTS[fault]
    whole = wholes[of].result()
    folder = whole.parent / f"{row.__name__}"
    with ExitStack() as end:
        end.callback(shutil.rmtree, folder, ignore_errors=True)
        shutil.copytree(whole, folder, symlinks=True)
        case = Case(folder, end)
        prepared(case, of)
        was = tree(folder, "site", ".generated") if of == "book" else {}
        steps = row(case)
        first = next(steps)
        now = tree(folder, "site") if of == "book" else {}
        changed = [name for name in now if was.get(name) != now[name]]
        changed += [name for name in was if name.startswith("site/") and name not in now]
        left = halves(folder)
        stamps = [path.name for path in folder.glob(".venv/installed*")]
        next(steps, None)
        second = case.run()
        differ = unlike(was, tree(folder, "site", ".generated")) if of == "book" else []
        return Result(Outcome(first, changed, left, second, differ + halves(folder)), stamps)


@pytest.fixture(scope="module")
def results(tmp_path_factory, request) -> Iterator[dict[str, Future[Result]]]:
    """What comes of each fault, two at a time."""
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(2) as pool:
        wholes = {
            of: first.submit(make, tmp_path_factory.mktemp(of) / "whole")
            for of, make in MAKE.items()
        }
        yield {
            fault: pool.submit(broken, wholes, fault)
            for fault in chosen(request, FAULTS)
            if os.getuid() == 0 or FAULTS[fault].row not in AS_ROOT
        }


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, marks=[LINUX, ROOT_ALONE] if told.row in AS_ROOT else [])
        for fault, told in FAULTS.items()
    ],
)
def test_it_is_told_and_can_be_mended(results, record_property, fault):
    _, of, says, stops = FAULTS[fault]
    outcome, stamps = results[fault].result()
    if not stops:  # it is mended by the run itself
        assert outcome.broken.status == 0, outcome.broken.told
        outcome = outcome._replace(broken=Run(1, outcome.broken.told), changed=[])
    elif outcome.broken.status == -signal.SIGKILL:  # nobody was left to tidy up
        outcome = outcome._replace(halves=[])
    outcome.check()
    assert says in outcome.broken.told, outcome.broken.told
    if of == "lists" and stops:
        assert not stamps, "a stamp claims what isn't installed"
    told = told_line(outcome.broken.told, outcome.broken.told.find(says)) if says else ""
    record_property("told", told or "nothing is told, and the next run succeeds")
