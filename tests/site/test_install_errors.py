"""Errors while installing: an old Python, a wrong hash, no network, a kill, a damaged environment.

Each fault breaks a copy of the installer with a list of one package, a real pip, and a script in
the place of npm. No stamp may claim what is not installed, and repaired the next run succeeds.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from built_pages import ROOT
from fault_injection import (
    PATIENCE,
    Case,
    Copy,
    Fault,
    Run,
    check_fault,
    kill,
    run_second,
    wait_until,
)
from sample_book import change

UNREACHABLE = "http://127.0.0.1:9/"
CLOSED = {
    "PIP_INDEX_URL": UNREACHABLE, "PIP_RETRIES": "0", "PIP_NO_INDEX": "", "PIP_FIND_LINKS": ""
}  # fmt: skip


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
    wait_until((case.folder / "node_modules").exists)
    yield kill(process, signal.SIGKILL)
    case.environment = before


def installed(case: Case) -> None:
    done = case.run()
    assert done.status == 0, done.output
    quiet = case.run()
    assert quiet == Run(0, ""), "what is installed is installed again"


def python_gone(case: Case) -> Iterator[Run]:
    installed(case)
    (case.folder / ".venv/bin/python").unlink()
    (case.folder / ".venv/bin/python").symlink_to("/nonexistent/python3.9")
    yield case.run()


def python_too_old(case: Case) -> Iterator[Run]:
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
    wait_until((case.folder / "node_modules").exists)
    yield run_second(case, first, case.folder / "go")
    case.environment = before


pytestmark = pytest.mark.depends_on("scripts/install", "tests/fault_injection.py")
PIP = "scripts/install: pip could not install the packages (see above). Is there a network?"
FAULTS = {
    "an old Python": Fault(old_python, "Python 3.11.5 or newer is needed, not "),
    "no Python": Fault(
        no_python, "Python 3.11.5 or newer is needed; PYTHON=path/to/python selects one"
    ),
    "a package of another hash": Fault(another_hash, PIP),
    "a mistyped pin": Fault(a_pin_that_is_not_there, PIP),
    "no network at the first start": Fault(no_network_at_first, PIP),
    "no network for npm": Fault(
        no_npm, "scripts/install: npm could not install package-lock.json (see above). Is "
    ),
    "a lock that is gone": Fault(
        no_lock, "package-lock.json is missing; restore it with git restore package-lock.json"
    ),
    "an installation killed in pip": Fault(killed_in_pip, ""),
    "an installation killed between pip and npm": Fault(killed_between_pip_and_npm, ""),
    "a .venv whose Python is gone": Fault(
        python_gone, "== .venv is damaged: .venv/bin/python is missing", fails=False
    ),
    "a .venv of an old Python": Fault(python_too_old, "== .venv is incomplete", fails=False),
    "a package that was deleted": Fault(package_gone, "tiny.py is missing", fails=False),
    "a part of node_modules that was deleted": Fault(
        module_gone,
        "== node_modules is damaged: node_modules/katex/katex.js is missing",
        fails=False,
    ),
    "two installations at once": Fault(
        two_installations, "another process is installing; waiting until it has", fails=False
    ),
}


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


@pytest.fixture(scope="module")
def installer(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    environment = {
        "PATH": f"{{folder}}/bin:{os.environ['PATH']}",
        "PYTHON": "{folder}/bin/python3",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": "{folder}/wheels",
        "PIP_CACHE_DIR": "{folder}/cache",
    }
    folder = make_lists(tmp_path_factory.mktemp("installer") / "whole")
    return Copy(folder, (Path("scripts/install"),), environment)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_reported_and_can_be_repaired(installer, record_property, name):
    fault = FAULTS[name]
    folder = installer.original.with_name(fault.inject.__name__)
    message, stamps = check_fault(installer, fault, folder)
    assert not (fault.fails and stamps), "a stamp claims what is not installed"
    record_property("message", message)
