"""What is written after the pages of a language, and the Chinese build beside the English one."""

import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
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
from bookbuild.pages.errors import SetupError
from bookbuild.pages.files import write_file
from bookbuild.pages.values import remove_source_links
from bookbuild.publish import csp, feed, offline
from bookbuild.publish.markdown_copies import PageCopy, llms_txt
from bookbuild.run.workers import exit_with_parent

# Headings of the pages outside a part: before the first part, and after it.
DEFAULT_HEADINGS = {"en": ("Chapters", "Reference"), "zh": ("各章", "查阅")}
READING_MINUTES = re.compile(r'<p class="reading"[^>]*>\D*(\d+)')


def write_language_files(config: MkDocsConfig) -> None:
    """Patch the theme's scripts; write the Markdown copies, their list, and the feed."""
    language, folder = build_language(config), Path(config.site_dir)
    title, description, root = (
        config.site_name,
        config.site_description or "",
        config.site_url or "/",
    )
    patch_theme(config)
    parts = {
        heading: [page_copy(page, config) for page in pages]
        for heading, pages in navigation_parts(language).items()
    }
    for page in (copy for copies in parts.values() for copy in copies):
        write_file(folder / page.path, page.text())
    other_list = root_url(config) + ("llms.txt" if language == "zh" else "zh/llms.txt")
    text = llms_txt(title, description, parts, language, root, other_list)
    write_file(folder / "llms.txt", text)
    write_file(folder / "feed.xml", feed.rss(language, root, title, description))


def page_copy(page: Page, config: MkDocsConfig) -> PageCopy:
    """The Markdown copy of a page."""
    minutes = READING_MINUTES.search(page.content or "")
    text = remove_source_links(page.markdown or "")
    return PageCopy(
        build_language(config),
        page.file.src_uri,
        config.site_name if page.is_homepage else str(page.title),
        page.meta.get("description") or config.site_description or "",
        config.site_url or "/",
        text.replace("MINUTES", minutes[1], 1) if minutes else text,
    )


def navigation_parts(language: str) -> dict[str, list[Page]]:
    """The pages by the heading of their part; pages outside a part are chapters or reference."""
    assert STATE.nav
    heading, last = DEFAULT_HEADINGS[language]
    parts: dict[str, list[Page]] = {}
    for item in STATE.nav.items:
        if isinstance(item, Page):
            parts.setdefault(heading, []).append(item)
        else:
            parts[item.title] = [page for page in STATE.nav.pages if item in page.ancestors]
            heading = last
    return parts


def start_chinese_build(config: MkDocsConfig) -> None:
    """Build the Chinese site in a fork of this process, which builds the English one meanwhile."""

    def run() -> None:
        STATE.chinese_build = None
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent reports Ctrl-C
        threading.Thread(target=exit_with_parent, daemon=True).start()
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
    # Both builds share these hooks, and the end of the Chinese one isn't the end of the site.
    staged_site, STATE.staged_site = STATE.staged_site, None
    try:
        chinese.plugins.on_startup(command="serve" if STATE.serving else "build", dirty=False)
        build(chinese)
        chinese.plugins.on_shutdown()
    finally:
        STATE.staged_site = staged_site


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
    esbuild = next((paths.ROOT / "node_modules" / "@esbuild").glob("*/bin/esbuild"), None)
    hint = "remove node_modules and run scripts/install"
    if not esbuild:
        raise SetupError(f"esbuild is missing; {hint}")
    options = "--minify --target=es2023 --tsconfig-raw={} --legal-comments=none"
    in_place = "--allow-overwrite --outbase=. --outdir=."
    process = subprocess.run(
        [esbuild, *arguments, *options.split(), *in_place.split()],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    if process.returncode:
        raise SetupError(
            f"esbuild did not run; correct the script, or {hint}. Its errors:\n{process.stderr}"
        )


def protect_site(folder: Path, comments: bool) -> None:
    """Add the Content-Security-Policy, then list the hashes of the final bytes for offline use."""
    csp.add_policy(folder, comments=comments)
    offline.write_lists(folder)
