"""Renders the formulas of all pages of a build at once."""

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from bookbuild.mkdocs_site import formulas, render_cache
from bookbuild.mkdocs_site.languages import build_language, source_page
from bookbuild.pages.errors import SourceError
from bookbuild.pages.page import list_pages
from bookbuild.reference import quizzes

MATH_CACHE: dict[tuple[str, bool], str] = {}  # (TeX, displayed): HTML


def render_all(files: Files, config: MkDocsConfig) -> None:
    """Fill MATH_CACHE, and add the style sheet and the fonts that these formulas need."""
    pages = [file.page for file in files.documentation_pages() if file.page]
    needed = {formula for page in pages for formula in page_formulas(page, config)}
    try:
        MATH_CACHE.update(formulas.render_formulas(needed))
    except ValueError as error:
        tex, reason = error.args
        raise PluginError("\n".join(map(str, formula_errors(config, tex, reason)))) from None
    css, fonts = formulas.style_sheet(MATH_CACHE[formula] for formula in sorted(needed))
    files.append(File.generated(config, "assets/formulas.css", content=css))
    for name, content in fonts.items():
        files.append(File.generated(config, f"assets/fonts/{name}", content=content))


def page_formulas(page: Page, config: MkDocsConfig) -> list[tuple[str, bool]]:
    content = page.content or ""
    return render_cache.cached_step(
        source_page(page, config), "formulas", lambda: formulas.find_formulas(content)
    )


def formula_errors(config: MkDocsConfig, tex: str, reason: str) -> list[SourceError]:
    """An error for each place of a formula in the sources, found by its first line."""
    first_line = tex.splitlines()[0]
    message = f"{reason}; katex.org/docs/supported.html lists what there is"
    errors = [
        page.error(page.text.find(first_line), message)
        for page in list_pages(build_language(config))
        if first_line in page.text
    ]
    return [*errors, *quizzes.errors_at_text(first_line, message)]
