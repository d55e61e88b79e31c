"""The browser for PDFs, screenshots and tests: its executable, arguments and environment.

On Linux (x86-64) the browser and its libraries come from package-lock.json, elsewhere the browser
is Playwright's. On Linux fonts.conf limits it to fonts that also come from package-lock.json, so
the same commit gives the same PDF on every machine.

scripts/install --test runs this module, which installs the browser.
"""

import io
import os
import platform
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import brotli
from playwright.sync_api import Browser, Page, Playwright, Route

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


def install() -> None:
    """Unpack the browser and its libraries from the npm package, or download Playwright's."""
    if not is_packaged():
        # If it fails, only what needs a browser does too: see executable.
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"])
        return
    packed = CHROMIUM_PACKAGE / "bin"
    libraries = brotli.decompress((packed / "al2023.tar.br").read_bytes())
    with tarfile.open(fileobj=io.BytesIO(libraries)) as archive:
        archive.extractall(UNPACKED_FOLDER, filter="data")
    browser = UNPACKED_FOLDER / "chromium"
    browser.write_bytes(brotli.decompress((packed / "chromium.br").read_bytes()))
    browser.chmod(0o755)


def executable(playwright: Playwright) -> Path:
    """The path of the browser's executable. Raises SetupError if Playwright's is missing."""
    if is_packaged():
        return UNPACKED_FOLDER / "chromium"
    path = Path(playwright.chromium.executable_path)
    if not path.exists():
        raise SetupError("no Chromium; run .venv/bin/playwright install chromium")
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


if __name__ == "__main__":
    install()
