"""A build that lacks a program says so before it begins, with the command that helps."""

import importlib.util
import re
import sys
from pathlib import Path

from bookbuild.mkdocs_site import installation
from bookbuild.pages import paths
from fault_injection import build


def test_missing_npm_packages_stop_a_build_at_its_start(sample_folder):
    modules = sample_folder / "node_modules"
    target = modules.readlink()
    modules.unlink()
    status, output = build(sample_folder)
    assert status == 1
    (line,) = [line for line in output.splitlines() if "ERROR" in line]
    npm = re.escape(str(Path(sys.executable).with_name("npm")))
    expected = rf"the npm package katex is not installed in .*; run {npm} ci --omit=dev"
    assert re.search(expected, line), output
    assert not (sample_folder / ".generated/outputs").exists()
    modules.symlink_to(target)
    status, output = build(sample_folder)
    assert status == 0, output


def test_the_command_is_that_of_the_environment(sample_folder, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    command = f"run {sys.executable} -m pip install -r requirements-torch.txt"
    error = str(installation.installation_error())
    assert error.startswith("PyTorch is not installed in") and error.endswith(command)
    (sample_folder / ".venv").mkdir()
    (sample_folder / ".venv/installed").touch()
    monkeypatch.setattr(sys, "prefix", str(paths.ROOT / ".venv"))
    error = str(installation.installation_error())
    assert error.endswith("; remove .venv and run scripts/install")
