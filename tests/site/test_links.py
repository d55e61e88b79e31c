"""Every link of the built site has an existing page and anchor as its target."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def check_links(site_url):
    """A function that checks a built site with lychee; the site's address stands for its folder."""

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
            f"^{site_url} file://{folder}/",
            *folder.rglob("*.html"),
        ]
        return subprocess.run(command, capture_output=True, text=True)

    return call


def test_there_is_no_dead_link_and_no_dead_anchor(site, check_links):
    done = check_links(site)
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
def test_an_added_dead_link_is_found(site, check_links, site_url, tmp_path, link):
    shutil.copytree(site, tmp_path, dirs_exist_ok=True)
    home = tmp_path / "index.html"
    text = home.read_text(encoding="utf-8")
    home.write_text(text.replace("</body>", link.format(address=site_url) + "</body>"), "utf-8")
    done = check_links(tmp_path)
    assert done.returncode == 2
    assert "nonesuch" in done.stdout
