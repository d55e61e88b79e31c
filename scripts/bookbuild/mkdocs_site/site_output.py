"""What is written beside the pages: Markdown copies, minified assets."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, FileSystemBytecodeCache
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

from bookbuild.mkdocs_site.formulas import remove_comments
from bookbuild.mkdocs_site.languages import build_language
from bookbuild.mkdocs_site.page_html import strip_indentation
from bookbuild.pages import paths
from bookbuild.pages.contents import chapter_number, ordered_pages
from bookbuild.pages.files import write_file
from bookbuild.pages.node import run_program
from bookbuild.pages.page import SourcePage
from bookbuild.pages.values import remove_source_links
from bookbuild.publish import csp
from bookbuild.publish.markdown_copies import PageCopy

IN_PLACE = "--allow-overwrite", "--outbase=.", "--outdir=."  # options of esbuild


def prepare_templates(env: Environment) -> None:
    """Cache the templates, and give them the titles and addresses of the chapters, by language."""
    env.bytecode_cache = FileSystemBytecodeCache(str(paths.GENERATED / "fresh"))
    chapters = {language: [*chapter_links(language)] for language in paths.LANGUAGES}
    env.globals["chapters"] = chapters  # type: ignore[unsupported-operation]


def chapter_links(language: str) -> Iterator[tuple[str, str]]:
    for name in ordered_pages():
        page = SourcePage(language, name)
        if chapter_number(name) and page.path.exists():
            yield page.title, f"{name.removesuffix('.md')}/"


def finish_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Write the Markdown copy of a page next to its HTML; returns its final HTML."""
    text = remove_source_links(page.expanded)  # type: ignore[attr-defined]
    if minutes := re.search(r'<p class="reading"\D*(\d+)', page.content or ""):
        text = text.replace("MINUTES", minutes[1], 1)
    copy = PageCopy(
        build_language(config),
        page.file.src_uri,
        config.site_name if page.is_homepage else str(page.title),
        page.meta.get("description") or config.site_description or "",
        config.site_url or "/",
        text,
    )
    write_file(Path(page.file.abs_dest_path).with_suffix(".md"), copy.text())
    return strip_indentation(remove_comments(output))


def minify_site(config: MkDocsConfig) -> None:
    """Minify the assets of both languages, and add the policy to each page."""
    minify_assets(Path(config.site_dir))
    csp.add_policy(Path(config.site_dir), comments="giscus" in config.extra)


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
        bundle = "--bundle", "--format=esm"
        run_esbuild(widgets, "debugger.js", *bundle, texts, *external, *IN_PLACE)
        shutil.rmtree(widgets / "step")
        run_esbuild(assets, *[name for name in names if (assets / name).exists()], *IN_PLACE)


def search_worker() -> str:
    """The script of the search, with the libraries that it uses."""
    folder = paths.ROOT / "overrides" / "assets"
    return run_esbuild(folder, "search-worker.js", "--bundle", "--format=iife")


def run_esbuild(folder: Path, *arguments: str | Path) -> str:
    """Minify files of a folder; returns the result, if no option names a file for it."""
    # The program for this system, which takes a fraction of the time of esbuild's Node.js script.
    programs = (paths.ROOT / "node_modules" / "@esbuild").glob("*/bin/esbuild")
    options = "--minify --target=es2023 --tsconfig-raw={} --legal-comments=none"
    program = next(programs, "esbuild")  # if it is missing, the error names it
    return run_program(program, *arguments, *options.split(), cwd=folder)
