"""Every link of the built site has an existing page and anchor as its target."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def check_links(site_url):
    """A function that checks pages of a built site, or all, with lychee; the site's address stands
    for its folder."""

    def call(folder: Path, *pages: Path) -> subprocess.CompletedProcess[str]:
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
            *(pages or folder.rglob("*.html")),
        ]
        return subprocess.run(command, capture_output=True, text=True)

    return call


def test_there_is_no_dead_link_and_no_dead_anchor(site, check_links):
    done = check_links(site)
    assert done.returncode == 0, done.stdout
    assert " 0 Total" not in done.stdout


# {} is the site's address. Each leads to another name, so that each must be reported.
DEAD_LINKS = (
    '<a href="nonesuch-1/">',
    '<a href="glossary/#nonesuch-2">',
    '<a href="#nonesuch-3">',
    '<a href="/nonesuch-4/">',
    '<img src="nonesuch-5.svg" alt="">',
    '<link rel="stylesheet" href="nonesuch-6.css">',
    '<link rel="alternate" hreflang="zh" href="{}zh/nonesuch-7/">',
)


def test_added_dead_links_are_found(site, check_links, site_url, tmp_path):
    shutil.copytree(site, tmp_path, dirs_exist_ok=True)
    home = tmp_path / "index.html"
    text = home.read_text(encoding="utf-8")
    links = "".join(DEAD_LINKS).format(site_url)
    home.write_text(text.replace("</body>", f"{links}</body>"), "utf-8")
    done = check_links(tmp_path, home)
    assert done.returncode == 2
    assert len(set(re.findall(r"nonesuch-\d", done.stdout))) == len(DEAD_LINKS), done.stdout
