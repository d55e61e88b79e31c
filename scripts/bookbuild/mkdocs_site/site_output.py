"""What is written after the pages of a language, and the Chinese build beside the English one."""

import multiprocessing
import os
import shutil
import signal
import sys
from itertools import chain
from pathlib import Path
from urllib.parse import urljoin

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, MkDocsException
from mkdocs.structure.pages import Page

from bookbuild.mkdocs_site.build_state import STATE
from bookbuild.mkdocs_site.languages import build_language, root_url
from bookbuild.mkdocs_site.theme_patches import patch_theme
from bookbuild.pages import paths
from bookbuild.pages.files import write_file
from bookbuild.pages.node import run_program
from bookbuild.pages.values import remove_source_links
from bookbuild.publish import feed
from bookbuild.publish.markdown_copies import PageCopy, llms_txt

DEFAULT_HEADINGS = {"en": "Chapters", "zh": "各章"}  # of the pages outside a part


def write_language_files(config: MkDocsConfig) -> None:
    """Patch the theme's scripts; write the Markdown copies, their list, and the feed."""
    language, folder = build_language(config), Path(config.site_dir)
    title, description = config.site_name, config.site_description or ""
    root = config.site_url or "/"
    patch_theme(config)
    parts = {
        heading: [page_copy(page, config) for page in pages]
        for heading, pages in navigation_parts(language).items()
    }
    for copy in chain.from_iterable(parts.values()):
        write_file(folder / copy.path, copy.text())
    other_list = root_url(config) + ("llms.txt" if language == "zh" else "zh/llms.txt")
    text = llms_txt(title, description, parts, language, root, other_list)
    write_file(folder / "llms.txt", text)
    write_file(folder / "feed.xml", feed.rss(language, root, title, description))


def page_copy(page: Page, config: MkDocsConfig) -> PageCopy:
    """The Markdown copy of a page."""
    return PageCopy(
        build_language(config),
        page.file.src_uri,
        config.site_name if page.is_homepage else str(page.title),
        page.meta.get("description") or config.site_description or "",
        config.site_url or "/",
        remove_source_links(page.markdown or ""),
    )


def navigation_parts(language: str) -> dict[str, list[Page]]:
    """The pages by the heading of their part."""
    assert STATE.nav
    parts: dict[str, list[Page]] = {}
    for item in STATE.nav.items:
        if isinstance(item, Page):
            parts.setdefault(DEFAULT_HEADINGS[language], []).append(item)
        else:
            parts[item.title] = [page for page in STATE.nav.pages if item in page.ancestors]
    return parts


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


def build_chinese_site(config: MkDocsConfig) -> None:
    """Build the Chinese site into the folder zh/ of the English one."""
    chinese = load_config(
        str(paths.ROOT / "mkdocs.zh.yml"),
        site_dir=os.path.join(config.site_dir, "zh"),
        site_url=urljoin(config.site_url or "/", "zh/"),
        strict=config.strict,
    )
    chinese.plugins.on_startup(command="serve" if STATE.serving else "build", dirty=False)
    build(chinese)  # without on_shutdown, which is the end of both builds


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
