"""Errors while installing: an old Python, a wrong hash, no network, a damaged environment.

The installer has a list of one package, the real pip and uv, and a script instead of npm. No stamp
may claim a package that is not installed, and the next run succeeds.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from built_pages import ROOT
from fault_injection import CommandResult, run_command
from sample_book import change

pytestmark = pytest.mark.slow
UV_FAILED = "scripts/install: uv could not install the packages (see above). Is there a network?"
OFFLINE = {"UV_HTTP_RETRIES": "0", "UV_NO_INDEX": "0", "UV_FIND_LINKS": ""}
NPM_SCRIPT = """#!/bin/sh
# Instead of npm ci: replaces node_modules.
rm -rf node_modules
mkdir -p node_modules/katex
echo > node_modules/katex/katex.js
"""
PYTHON_SCRIPT = """#!/bin/sh
# The machine's Python; copies a new environment that has uv.
case "$*" in
  "-m venv --clear .venv") rm -rf .venv/* && mkdir -p .venv && exec cp -a template/. .venv ;;
esac
exec {python} "$@"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The installer with a list of one package, of which there is a newer release, and fake npm."""
    python = Path(sys.executable).resolve()
    subprocess.run([python, "-m", "venv", tmp_path / "template"], check=True)
    (tmp_path / "template/bin/uv").symlink_to(Path(sys.executable).with_name("uv"))
    for name in ("scripts", "wheels", "bin"):
        (tmp_path / name).mkdir()
    shutil.copy(ROOT / "scripts/install", tmp_path / "scripts")
    pinned = write_wheel(tmp_path / "wheels", "tiny", "1.0")
    write_wheel(tmp_path / "wheels", "tiny", "1.1")
    write_wheel(tmp_path / "wheels", "torch", "2.13.0")
    digest = hashlib.sha256(pinned.read_bytes()).hexdigest()
    (tmp_path / "requirements.txt").write_text(f"tiny==1.0 --hash=sha256:{digest}\n")
    (tmp_path / "requirements-test.txt").touch()
    (tmp_path / "requirements-torch.txt").write_text("torch==2.13.0\n")
    (tmp_path / "package-lock.json").write_text("{}\n")
    write_program(tmp_path / "bin/npm", NPM_SCRIPT)
    write_program(tmp_path / "bin/python3", PYTHON_SCRIPT.format(python=python))
    return tmp_path


def write_program(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def write_wheel(folder: Path, name: str, version: str) -> Path:
    """A package of one empty module."""
    path, about = folder / f"{name}-{version}-py3-none-any.whl", f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", "")
        archive.writestr(f"{about}/METADATA", metadata)
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return path


def install(folder: Path, **more: str) -> CommandResult:
    environment = {
        "PATH": f"{folder}/bin:{os.environ['PATH']}",
        "PYTHON": f"{folder}/bin/python3",
        **{f"{tool}_NO_INDEX": "1" for tool in ("PIP", "UV")},
        **{f"{tool}_FIND_LINKS": f"{folder}/wheels" for tool in ("PIP", "UV")},
        **{f"{tool}_CACHE_DIR": f"{folder}/cache-{tool}" for tool in ("PIP", "UV")},
    }
    return run_command(folder, folder / "scripts/install", **(environment | more))


def check_installed(folder: Path) -> None:
    """The next run succeeds, and the one after it has nothing to do."""
    status, output = install(folder)
    assert status == 0, output
    assert [*folder.glob(".venv/lib/python3*/site-packages/tiny-1.0.dist-info")]
    assert install(folder) == CommandResult(0, "")


def check_failed(folder: Path, result: CommandResult, message: str) -> None:
    assert result.status
    assert message in result.output
    assert not (folder / ".venv/installed").exists()


def test_an_old_python_is_named(folder):
    old = write_program(folder / "old-python", '#!/bin/sh\ncase "$1" in -c) exit 1 ;; esac\n')
    message = f"Python 3.11.5 or newer is needed, not {old.name}"
    check_failed(folder, install(folder, PYTHON=str(old)), message)
    check_installed(folder)


def test_a_package_of_another_hash_is_not_installed(folder):
    change(folder / "requirements.txt", "sha256:", "sha256:00")
    check_failed(folder, install(folder), UV_FAILED)
    change(folder / "requirements.txt", "sha256:00", "sha256:")
    check_installed(folder)


def test_without_a_network_the_first_run_says_so(folder):
    result = install(folder, PIP_INDEX_URL="http://127.0.0.1:9/", **OFFLINE)
    check_failed(folder, result, UV_FAILED)
    check_installed(folder)


def test_a_deleted_package_is_installed_again(folder):
    check_installed(folder)
    (package,) = folder.glob(".venv/lib/python3*/site-packages/tiny.py")
    package.unlink()
    assert "tiny.py is missing" in install(folder).output
    assert package.exists()
