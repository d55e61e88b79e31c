"""Where Chromium is: prints its path, or exits with 1 if there is none."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = (
    "chromium-headless-shell",  # the same without windows: a quarter less time
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)


def find() -> str | None:
    """A Chromium on the machine, else the one that Playwright has installed."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found:
        return found
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


if __name__ == "__main__":
    path = find()
    print(path)
    sys.exit(path is None)
