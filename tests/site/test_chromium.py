"""The browser of the npm package is complete, and uses only the fonts of fonts.conf."""

import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import brotli
import pytest
from fontTools.ttLib import TTFont
from playwright.sync_api import Page, Playwright

from bookbuild.pages.errors import SetupError
from bookbuild.publish import chromium
from built_pages import BuiltPage, assert_no_errors

LINUX_ONLY = pytest.mark.skipif(sys.platform != "linux", reason="only on Linux fontconfig is used")
PACKAGED_ONLY = pytest.mark.skipif(
    not chromium.is_packaged(), reason="package-lock.json has a browser only for Linux, x86-64"
)
SYSTEM_FONT = "A Font of the System"

LDD_PATH = shutil.which("ldd", path=os.defpath) or "ldd"


def font_files() -> Iterator[Path]:
    for folder in ElementTree.parse(chromium.FONT_CONFIG).getroot().iter("dir"):
        path = chromium.FONT_CONFIG.parent / str(folder.text)
        files = [*path.glob("*.ttf")]
        assert files, f"fonts.conf: no font in {path}"
        yield from files


def rendered_fonts(page: Page, family: str) -> list[str]:
    """The fonts that the browser uses for a text of this font family."""
    page.set_content(f"<p style='font-family: \"{family}\"'>Text</p>")
    session = page.context.new_cdp_session(page)
    session.send("DOM.enable")
    session.send("CSS.enable")
    document = session.send("DOM.getDocument")["root"]["nodeId"]
    query = {"nodeId": document, "selector": "p"}
    node = session.send("DOM.querySelector", query)["nodeId"]
    fonts = session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
    return [font["familyName"] for font in fonts]


@pytest.fixture
def user_fonts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home folder that contains a font with another name."""
    font = TTFont(next(font_files()))
    for record in font["name"].names:
        if record.nameID in (1, 4, 16):
            record.string = SYSTEM_FONT
    folder = tmp_path / ".fonts"
    folder.mkdir()
    font.save(folder / "stranger.ttf")
    monkeypatch.setenv("HOME", str(tmp_path))


@LINUX_ONLY
def test_fonts_of_the_system_are_not_seen(playwright: Playwright, user_fonts):
    browser = chromium.launch(playwright)
    page = browser.new_page()
    assert rendered_fonts(page, SYSTEM_FONT) == ["Tinos"]
    for family in ("Arimo", "Tinos", "DejaVu Sans Mono", "Noto Sans SC", "Noto Serif SC"):
        assert rendered_fonts(page, family) == [family]
    assert rendered_fonts(page, "Liberation Sans") == ["Arimo"]
    browser.close()


def test_the_fonts_have_every_character_of_the_book(built_pages: list[BuiltPage]):
    characters = {ord(letter) for page in built_pages for letter in page.tree.text()}
    for file in font_files():
        characters -= TTFont(file).getBestCmap().keys()
    assert_no_errors(f"no font has U+{code:04X}" for code in characters if not chr(code).isspace())


@PACKAGED_ONLY
def test_the_browser_needs_nothing_of_the_system_but_the_c_library(playwright: Playwright):
    path = chromium.executable(playwright)
    done = subprocess.run(
        [LDD_PATH, path],
        env=chromium.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    libraries = [line.split()[0] for line in done.stdout.splitlines() if "=>" in line]
    needed = {name for name in libraries if not (path.parent / "lib" / name).exists()}
    system = ["libc", "libm", "libdl", "libpthread", "libgcc_s"]
    assert_no_errors(sorted(name for name in needed if name.partition(".")[0] not in system))


@pytest.fixture
def fake_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a file of a few bytes as its browser."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/chromium.br").write_bytes(brotli.compress(b"browser"))
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        library = tarfile.TarInfo("lib/libnss3.so")
        library.size = 3
        tar.addfile(library, io.BytesIO(b"nss"))
    (tmp_path / "bin/al2023.tar.br").write_bytes(brotli.compress(archive.getvalue()))
    monkeypatch.setattr(chromium, "CHROMIUM_PACKAGE", tmp_path)
    monkeypatch.setattr(chromium, "UNPACKED_FOLDER", tmp_path / "unpacked")
    return tmp_path


@PACKAGED_ONLY
def test_the_browser_and_its_libraries_are_unpacked(fake_package):
    chromium.install()
    assert (fake_package / "unpacked/chromium").read_bytes() == b"browser"
    assert os.access(fake_package / "unpacked/chromium", os.X_OK)
    assert (fake_package / "unpacked/lib/libnss3.so").read_bytes() == b"nss"


def test_without_a_packaged_browser_that_of_playwright_is_used(tmp_path, monkeypatch):
    commands = []
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(subprocess, "run", commands.append)
    chromium.install()
    assert commands == [[sys.executable, "-m", "playwright", "install", "chromium"]]
    fake_playwright = SimpleNamespace(
        chromium=SimpleNamespace(executable_path=tmp_path / "browser")
    )
    with pytest.raises(SetupError, match="playwright install chromium"):
        chromium.executable(fake_playwright)
    (tmp_path / "browser").touch()
    assert chromium.executable(fake_playwright) == tmp_path / "browser"
    assert "LD_LIBRARY_PATH" not in chromium.environment().keys() - os.environ.keys()
