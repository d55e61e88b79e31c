"""What is written beside the pages: Markdown copies, minified assets, the Chinese site."""

import logging
import multiprocessing
import os
import shutil
import signal
import sys
from pathlib import Path
from urllib.parse import urljoin

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, MkDocsException
from mkdocs.structure.pages import Page
from mkdocs.utils import CountHandler

from bookbuild.mkdocs_site.build_state import STATE
from bookbuild.mkdocs_site.languages import build_language
from bookbuild.pages import paths
from bookbuild.pages.files import write_file
from bookbuild.pages.node import run_program
from bookbuild.pages.values import remove_source_links
from bookbuild.publish.markdown_copies import PageCopy


def write_markdown_copy(page: Page, config: MkDocsConfig) -> None:
    """Write the Markdown copy of a page next to its HTML."""
    copy = PageCopy(
        build_language(config),
        page.file.src_uri,
        config.site_name if page.is_homepage else str(page.title),
        page.meta.get("description") or config.site_description or "",
        config.site_url or "/",
        remove_source_links(page.markdown or ""),
    )
    write_file(Path(page.file.abs_dest_path).with_suffix(".md"), copy.text())


def start_chinese_build(config: MkDocsConfig) -> None:
    """Build the Chinese site in a fork of this process, which builds the English one meanwhile."""

    def run() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent reports Ctrl-C
        try:
            build_chinese_site(config)
        except MkDocsException as error:
            error.show()
            sys.exit(1)

    STATE.chinese_build = multiprocessing.get_context("fork").Process(target=run, daemon=True)
    STATE.chinese_build.start()


def finish_chinese_build() -> None:
    """Wait for the Chinese site. Raises Abort if it could not be built."""
    assert STATE.chinese_build
    STATE.chinese_build.join()
    failed, STATE.chinese_build = STATE.chinese_build.exitcode, None
    if failed:
        raise Abort("Aborted, since the Chinese site could not be built")


def stop_chinese_build() -> None:
    """Stop building the Chinese site, if the English one has failed."""
    if STATE.chinese_build:
        STATE.chinese_build.terminate()
        STATE.chinese_build.join()


def kept_folder(config: MkDocsConfig) -> Path:
    return Path(f"{config.site_dir}.zh")


def keep_chinese_site(config: MkDocsConfig, key: str) -> None:
    """While serving, move the Chinese site out of the folder that MkDocs is about to empty, if it
    was made without a warning from the same files: those with this key."""
    folder = Path(config.site_dir, "zh")
    shutil.rmtree(kept_folder(config), ignore_errors=True)  # from a build that has failed
    if STATE.serving and key and key == STATE.kept_chinese_key and folder.is_dir():
        folder.rename(kept_folder(config))
    STATE.chinese_key, STATE.kept_chinese_key = key, ""  # until the build has succeeded


def build_chinese_site(config: MkDocsConfig) -> None:
    """Build the Chinese site into the folder zh/ of the English one, or move it back there."""
    if kept_folder(config).is_dir():
        kept_folder(config).rename(Path(config.site_dir, "zh"))
        STATE.kept_chinese_key = STATE.chinese_key
        return
    chinese = load_config(
        str(paths.ROOT / "mkdocs.zh.yml"),
        site_dir=os.path.join(config.site_dir, "zh"),
        site_url=urljoin(config.site_url or "/", "zh/"),
        strict=config.strict,
    )
    chinese.plugins.on_startup(command="serve" if STATE.serving else "build", dirty=False)
    warnings = CountHandler()
    warnings.setLevel(logging.WARNING)
    logging.getLogger("mkdocs").addHandler(warnings)
    try:
        build(chinese)  # without on_shutdown, which is the end of both builds
    finally:
        logging.getLogger("mkdocs").removeHandler(warnings)
    if not warnings.get_counts():
        STATE.kept_chinese_key = STATE.chinese_key


def minify_assets(folder: Path) -> None:
    """Minify the book's scripts and style sheets, not its downloads, which are to be read.

    The modules of the debugger become one file, which loads faster than fifteen.
    """
    originals = paths.ROOT / "overrides" / "assets"
    names = [path.relative_to(originals) for path in sorted(originals.rglob("*.[cj]s*"))]
    for language, assets in (("en", folder / "assets"), ("zh", folder / "zh" / "assets")):
        widgets, downloads = assets / "widgets", assets.parent / "downloads"
        shared = widgets / "common.js", widgets / "step-through.js", downloads / "translator.js"
        external = [f"--external:{path}" for path in shared]
        texts = f'--define:document.documentElement.lang="{language}"'  # drops the other language's
        run_esbuild(widgets, "debugger.js", "--bundle", "--format=esm", texts, *external)
        shutil.rmtree(widgets / "step")
        run_esbuild(assets, *[name for name in names if (assets / name).exists()])


def run_esbuild(folder: Path, *arguments: str | Path) -> None:
    """Minify files of a folder in place."""
    # The program for this system, which takes a fraction of the time of esbuild's Node.js script.
    programs = (paths.ROOT / "node_modules" / "@esbuild").glob("*/bin/esbuild")
    options = "--minify --target=es2023 --tsconfig-raw={} --legal-comments=none"
    in_place = "--allow-overwrite --outbase=. --outdir=."
    program = next(programs, "esbuild")  # if it is missing, the error names it
    run_program(program, *arguments, *options.split(), *in_place.split(), cwd=folder)
