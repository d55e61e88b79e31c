"""Errors while installing: an old Python, a wrong hash, no network, a kill, a damaged environment.

Each fault breaks a copy of the installer that has a list of one package, the real pip and uv, and
a script instead of npm. No stamp may claim a package that is not installed, and the next run
succeeds.
"""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from built_pages import ROOT
from fault_injection import (
    CommandResult,
    Fault,
    FaultSetup,
    FaultyCopy,
    check_fault,
    kill_process,
    wait_until,
)
from sample_book import change

UNREACHABLE_URL = "http://127.0.0.1:9/"
OFFLINE_ENVIRONMENT = {
    **{"PIP_INDEX_URL": UNREACHABLE_URL, "UV_HTTP_RETRIES": "0"},
    **{"UV_NO_INDEX": "0", "UV_FIND_LINKS": ""},
}


def use_old_python(copy: FaultyCopy) -> Iterator[CommandResult]:
    old = copy.write("old/python3", '#!/bin/sh\ncase "$1" in -c) exit 1 ;; esac\n', 0o755)
    yield copy.run(PYTHON=str(old))


def change_package_hash(copy: FaultyCopy) -> Iterator[CommandResult]:
    requirements = copy.folder / "requirements.txt"
    change(requirements, "tiny==1.0 --hash=sha256:", "tiny==1.0 --hash=sha256:00")
    yield copy.run()
    change(requirements, "sha256:00", "sha256:")


def cut_network(copy: FaultyCopy) -> Iterator[CommandResult]:
    yield copy.run(**OFFLINE_ENVIRONMENT)


def kill_between_uv_and_npm(copy: FaultyCopy) -> Iterator[CommandResult]:
    before = copy.environment
    copy.environment = before | {"NPM": "wait"}
    process = copy.start()
    wait_until((copy.folder / "node_modules").exists)
    yield kill_process(process, signal.SIGKILL)
    copy.environment = before


def install(copy: FaultyCopy) -> None:
    done = copy.run()
    assert done.status == 0, done.output
    quiet = copy.run()
    assert quiet == CommandResult(0, ""), "a finished installation is repeated"


def remove_package(copy: FaultyCopy) -> Iterator[CommandResult]:
    install(copy)
    (package,) = copy.folder.glob(".venv/lib/python3*/site-packages/tiny.py")
    package.unlink()
    yield copy.run()
    assert package.exists()


pytestmark = pytest.mark.slow
UV_FAILED_MESSAGE = (
    "scripts/install: uv could not install the packages (see above). Is there a network?"
)
FAULTS = {
    "an old Python": Fault(use_old_python, "Python 3.11.5 or newer is needed, not "),
    "a package of another hash": Fault(change_package_hash, UV_FAILED_MESSAGE),
    "no network at the first start": Fault(cut_network, UV_FAILED_MESSAGE),
    "a killed installation": Fault(kill_between_uv_and_npm, ""),
    "a deleted package": Fault(remove_package, "tiny.py is missing", fails=False),
}


NPM_SCRIPT = """#!/bin/sh
# Instead of npm ci: replaces node_modules; the variable NPM makes it wait.
rm -rf node_modules
mkdir -p node_modules/katex
[ "${NPM:-}" != wait ] || sleep 600
echo > node_modules/katex/katex.js
"""
PYTHON_SCRIPT = """#!/bin/sh
# The machine's Python; copies a new environment, which is faster than creating one.
case "$*" in
  "-m venv --clear .venv") rm -rf .venv/* && mkdir -p .venv && exec cp -a {template}/. .venv ;;
esac
exec {python} "$@"
"""


def make_installer(folder: Path) -> Path:
    """The installer with a list of one package, of which there is a newer release, and fake npm."""
    python = Path(sys.executable).resolve()
    template = folder.parent / "template"
    subprocess.run([python, "-m", "venv", template], check=True)
    (template / "bin/uv").symlink_to(Path(sys.executable).with_name("uv"))
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts/install", folder / "scripts")
    (folder / "package-lock.json").write_text("{}\n")
    wheels = folder / "wheels"
    wheels.mkdir()
    pinned, *_ = (
        write_wheel(wheels, name, version)
        for name, version in (("tiny", "1.0"), ("tiny", "1.1"), ("torch", "2.13.0"))
    )
    digest = hashlib.sha256(pinned.read_bytes()).hexdigest()
    (folder / "requirements.txt").write_text(f"tiny==1.0 --hash=sha256:{digest}\n")
    (folder / "requirements-test.txt").touch()
    (folder / "requirements-torch.txt").write_text("torch==2.13.0\n")
    for name, text in (("npm", NPM_SCRIPT), ("python3", PYTHON_SCRIPT)):
        path = folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.format(template=template, python=python) if name != "npm" else text)
        path.chmod(0o755)
    return folder


def write_wheel(folder: Path, name: str, version: str) -> Path:
    """A package of one empty module."""
    path, about = folder / f"{name}-{version}-py3-none-any.whl", f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    texts = {
        f"{name}.py": "",
        f"{about}/METADATA": metadata,
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in texts.items():
            archive.writestr(file, text)
    return path


@pytest.fixture(scope="module")
def installer_setup(tmp_path_factory: pytest.TempPathFactory) -> FaultSetup:
    environment = {
        "PATH": f"{{folder}}/bin:{os.environ['PATH']}",
        "PYTHON": "{folder}/bin/python3",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": "{folder}/wheels",
        "PIP_CACHE_DIR": "{folder}/cache",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": "{folder}/wheels",
        "UV_CACHE_DIR": "{folder}/uv-cache",
    }
    folder = make_installer(tmp_path_factory.mktemp("installer") / "whole")
    return FaultSetup(folder, (Path("scripts/install"),), environment)


@pytest.mark.parametrize("name", FAULTS)
def test_an_installation_fault_is_reported_and_can_be_repaired(installer_setup, name):
    fault = FAULTS[name]
    folder = installer_setup.original.with_name(fault.inject.__name__)
    stamps = check_fault(installer_setup, fault, folder)
    assert not (fault.fails and stamps), "a stamp claims what is not installed"
