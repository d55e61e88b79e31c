"""What is written beside the pages: Markdown copies, minified assets."""

import re
import shutil
from pathlib import Path

from jinja2 import Environment, FileSystemBytecodeCache
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

from bookbuild.mkdocs_site.formulas import remove_comments
from bookbuild.mkdocs_site.languages import build_language
from bookbuild.mkdocs_site.page_html import strip_indentation
from bookbuild.pages import paths
from bookbuild.pages.files import write_file
from bookbuild.pages.node import run_program
from bookbuild.pages.values import remove_source_links
from bookbuild.publish import csp
from bookbuild.publish.markdown_copies import PageCopy


def cache_templates(env: Environment) -> None:
    env.bytecode_cache = FileSystemBytecodeCache(str(paths.GENERATED / "fresh"))


def finish_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Write the Markdown copy of a page; returns its final HTML."""
    write_markdown_copy(page, config)
    return strip_indentation(remove_comments(output))


def write_markdown_copy(page: Page, config: MkDocsConfig) -> None:
    """Write the Markdown copy of a page next to its HTML."""
    text = remove_source_links(page.expanded)  # type: ignore[attr-defined]
    copy = PageCopy(
        build_language(config),
        page.file.src_uri,
        config.site_name if page.is_homepage else str(page.title),
        page.meta.get("description") or config.site_description or "",
        config.site_url or "/",
        with_minutes(text, page.content or ""),
    )
    write_file(Path(page.file.abs_dest_path).with_suffix(".md"), copy.text())


def with_minutes(text: str, html: str) -> str:
    """The text of a page with the reading time in its HTML."""
    minutes = re.search(r'<p class="reading"\D*(\d+)', html)
    return text.replace("MINUTES", minutes[1], 1) if minutes else text


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
