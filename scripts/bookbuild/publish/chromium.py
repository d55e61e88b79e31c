"""Where Chromium is: prints its path, or what is missing and how to get it, and exits with 1."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = (
    "chromium-headless-shell",  # the same without windows: a quarter less time
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)


def find_browser() -> str | None:
    """A Chromium on the machine, else the one that Playwright has installed."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found:
        return found
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def missing_requirements() -> Iterator[str]:
    """What the machine lacks to make a picture of both languages, and how to get it."""
    if not find_browser():
        how = "install the package chromium or run .venv/bin/playwright install chromium"
        yield f"no Chromium: {how}; scripts/build needs none"
    try:
        fonts = subprocess.run(["fc-list", ":lang=zh-cn"], capture_output=True, text=True).stdout
    except FileNotFoundError:
        return  # no fontconfig: macOS and Windows bring Chinese fonts
    if not fonts.strip():
        yield "no Chinese font: install one (Debian and Ubuntu: apt-get install fonts-noto-cjk)"


if __name__ == "__main__":
    faults = [f"chromium: {fault}" for fault in missing_requirements()]
    if faults:
        sys.exit("\n".join(faults))
    print(find_browser())
