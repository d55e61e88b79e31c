"""The browser for PDFs, screenshots and tests: its executable, arguments and environment.

On Linux (x86-64) the browser and its libraries come from package-lock.json, elsewhere the browser
is Playwright's. On Linux fonts.conf limits it to fonts that also come from package-lock.json, so
the same commit gives the same PDF on every machine.

usage: PYTHONPATH=scripts .venv/bin/python -m bookbuild.publish.chromium  (prints the path)
"""

import io
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import brotli
from playwright.sync_api import Browser, Page, Playwright, Route, sync_playwright

from bookbuild.pages.errors import SetupError
from bookbuild.pages.paths import ROOT

FONT_CONFIG = Path(__file__).parent / "styles" / "fonts.conf"
CHROMIUM_PACKAGE = ROOT / "node_modules" / "@sparticuz" / "chromium"
UNPACKED_FOLDER = CHROMIUM_PACKAGE / "unpacked"  # npm removes it together with the package
ORIGIN = "http://site.localhost"  # of the folder that serve_from_folder serves
BROWSER_ARGUMENTS = ("--no-sandbox", "--disable-gpu")  # containers have no sandbox and no GPU


def is_packaged() -> bool:
    """Whether package-lock.json contains a browser for this system."""
    return (platform.system(), platform.machine()) == ("Linux", "x86_64")


def unpack() -> None:
    """Unpack the browser and its libraries from the npm package, completely or not at all."""
    if UNPACKED_FOLDER.exists():
        return
    packed = CHROMIUM_PACKAGE / "bin"
    if not (packed / "chromium.br").exists():
        raise SetupError(f"{CHROMIUM_PACKAGE} is missing: run scripts/install --test")
    print("unpacking Chromium, once", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="part-", dir=CHROMIUM_PACKAGE) as folder:
        part = Path(folder, "unpacked")
        try:
            libraries = brotli.decompress((packed / "al2023.tar.br").read_bytes())
            browser = brotli.decompress((packed / "chromium.br").read_bytes())
        except brotli.error:
            hint = "remove node_modules and run scripts/install --test"
            raise SetupError(f"{CHROMIUM_PACKAGE} is damaged: {hint}") from None
        with tarfile.open(fileobj=io.BytesIO(libraries)) as archive:
            archive.extractall(part, filter="data")
        executable = part / "chromium"
        executable.write_bytes(browser)
        executable.chmod(0o755)
        with suppress(OSError):  # another process has unpacked it meanwhile
            part.rename(UNPACKED_FOLDER)


def executable(playwright: Playwright) -> Path:
    """The path of the browser's executable."""
    if is_packaged():
        unpack()
        return UNPACKED_FOLDER / "chromium"
    path = Path(playwright.chromium.executable_path)
    if not path.exists():
        raise SetupError("no Chromium: run .venv/bin/playwright install chromium")
    return path


def environment() -> dict[str, str]:
    """The environment variables that make the browser use its own libraries and fonts."""
    variables = {"FONTCONFIG_FILE": str(FONT_CONFIG)}
    if is_packaged():
        variables["LD_LIBRARY_PATH"] = str(UNPACKED_FOLDER / "lib")
    return os.environ | variables


def launch_options(playwright: Playwright, *arguments: str) -> dict[str, Any]:
    """The keyword arguments of Playwright's chromium.launch."""
    return {
        "executable_path": executable(playwright),
        "args": [*BROWSER_ARGUMENTS, *arguments],
        "env": environment(),
    }


def launch(playwright: Playwright, *arguments: str) -> Browser:
    """Start the browser."""
    return playwright.chromium.launch(**launch_options(playwright, *arguments))


def serve_from_folder(folder: Path, page: Page) -> None:
    """Answer the page's requests to ORIGIN with the files of a folder."""

    def respond(route: Route) -> None:
        path = folder / urlsplit(route.request.url).path[1:]
        route.fulfill(path=path / "index.html" if path.is_dir() else path)

    page.route(f"{ORIGIN}/**", respond)


def main() -> None:
    with sync_playwright() as playwright:
        if not is_packaged():  # does nothing if it is installed
            subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"])
        try:
            print(executable(playwright))
        except SetupError as error:
            sys.exit(f"chromium: {error}")


if __name__ == "__main__":
    main()
