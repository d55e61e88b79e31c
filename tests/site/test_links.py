"""Every link of the built site has an existing page and anchor as its target."""

import subprocess
import sys
from pathlib import Path


def test_there_is_no_dead_link_and_no_dead_anchor(site, site_url):
    """By lychee; the site's address stands for its folder."""
    options = ["--offline", "--include-fragments", "--no-progress", "--index-files", "index.html"]
    options += ["--root-dir", site, "--remap", f"^{site_url} file://{site}/"]
    command = [Path(sys.executable).with_name("lychee"), *options, *site.rglob("*.html")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert " 0 Total" not in done.stdout
