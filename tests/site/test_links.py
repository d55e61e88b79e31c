"""Every link of the built site leads to a page and an anchor that are there."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def check(root):
    """Calls lychee on a built site; the site's own address means its folder."""

    def call(folder: Path) -> subprocess.CompletedProcess[str]:
        command = [
            Path(sys.executable).with_name("lychee"),
            "--offline",
            "--include-fragments",
            "--no-progress",
            "--root-dir",
            folder,
            "--index-files",
            "index.html",
            "--remap",
            f"^{root} file://{folder}/",
            *folder.rglob("*.html"),
        ]
        return subprocess.run(command, capture_output=True, text=True)

    return call


def test_there_is_no_dead_link_and_no_dead_anchor(site, check):
    done = check(site)
    assert done.returncode == 0, done.stdout
    assert " 0 Total" not in done.stdout


@pytest.mark.parametrize(
    "link",
    [
        '<a href="nonesuch/">',
        '<a href="glossary/#nonesuch">',
        '<a href="#nonesuch">',
        '<a href="/nonesuch/">',
        '<img src="nonesuch.svg" alt="">',
        '<link rel="stylesheet" href="nonesuch.css">',
        '<link rel="alternate" hreflang="zh" href="{address}zh/nonesuch/">',
    ],
)
def test_a_planted_dead_link_is_found(site, check, root, tmp_path, link):
    shutil.copytree(site, tmp_path, dirs_exist_ok=True)
    home = tmp_path / "index.html"
    text = home.read_text(encoding="utf-8")
    home.write_text(text.replace("</body>", link.format(address=root) + "</body>"), "utf-8")
    done = check(tmp_path)
    assert done.returncode == 2
    assert "nonesuch" in done.stdout
