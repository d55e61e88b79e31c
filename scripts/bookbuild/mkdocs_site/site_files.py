"""Adds generated files and labs to the files of a build, and removes unused ones."""

import json
from fnmatch import fnmatch
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from bookbuild.generated import bibliography
from bookbuild.mkdocs_site import formulas
from bookbuild.mkdocs_site.languages import build_language, root_url
from bookbuild.mkdocs_site.site_output import search_worker
from bookbuild.mkdocs_site.theme_patches import SEARCH_WORKER_PATTERN, UNUSED_FILES
from bookbuild.pages import fresh, paths
from bookbuild.pages.files import read_text
from bookbuild.pages.labs import notebooks
from bookbuild.pages.page import SourcePage, list_pages


def change_files(files: Files, config: MkDocsConfig) -> None:
    """Add and remove files before MkDocs reads them."""
    add_generated_files(files, config)
    replace_search(files, config)
    add_labs(files, config)
    remove_unused_files(files, config)


def add_generated_files(files: Files, config: MkDocsConfig) -> None:
    for path in sorted(paths.DOWNLOADS.rglob("*.*")):
        name = path.relative_to(paths.GENERATED).as_posix()
        own = paths.GENERATED / build_language(config) / name  # in Chinese, if it has words
        source = own if own.exists() else path
        files.append(File.generated(config, name, abs_src_path=str(source)))
    path = bibliography.bib_file()
    files.append(File.generated(config, path.name, abs_src_path=str(path)))


def replace_search(files: Files, config: MkDocsConfig) -> None:
    """Put the search of the book in place of Material's."""
    [material] = [each for each in files if fnmatch(each.src_uri, SEARCH_WORKER_PATTERN)]
    files.remove(material)
    files.append(File.generated(config, material.src_uri, content=search_worker()))


def add_labs(files: Files, config: MkDocsConfig) -> None:
    for page in list_pages(build_language(config)):
        if page.is_notebook:
            add_lab(page, files, config)


def add_lab(page: SourcePage, files: Files, config: MkDocsConfig) -> None:
    """Add a notebook as a page, and as a download that contains this site's address."""
    name = page.name.replace(".md", ".ipynb")
    placeholder, root = notebooks.site_url(page.path), root_url(config)
    original = files.get_file_from_path(name)
    if original:
        files.remove(original)
    download = page.path.read_text(encoding="utf-8").replace(placeholder, root)
    files.append(File.generated(config, name, content=download))
    file = Path("outputs", page.name).with_suffix(".json")
    own = paths.GENERATED / page.language / file  # in Chinese, if it shows words
    outputs = json.loads(read_text(own if own.exists() else paths.GENERATED / file))
    lines = notebooks.markdown_page(page.path, page.language, outputs)
    text = "".join(f"{line}\n" for line, _ in lines).replace(placeholder, root)
    text = notebooks.with_notebook_links(text, page.path.name, page.language, config.repo_url or "")
    lab = File.generated(config, page.name, content=text)
    lab.edit_uri = name  # type: ignore[read-only]
    files.append(lab)


def remove_unused_files(files: Files, config: MkDocsConfig) -> None:
    unused = [*UNUSED_FILES]
    if build_language(config) == "zh":  # both languages use those of the English site
        unused.append(paths.SHARED_WEIGHTS)
    for file in [*files]:
        if any(fnmatch(file.src_uri, pattern) for pattern in unused):
            files.remove(file)


def add_formula_styles(files: Files, config: MkDocsConfig) -> None:
    """Add the style sheet and the fonts that the formulas of all pages need."""
    pages = [file.page.content or "" for file in files.documentation_pages() if file.page]
    rendered = sorted({each for page in pages for each in formulas.rendered_formulas(page)})
    name, key = f"pages/{build_language(config)}/formulas", fresh.hash_texts(rendered)
    css, fonts = fresh.cached(name, key, lambda: formulas.style_sheet(rendered))
    files.append(File.generated(config, "assets/formulas.css", content=css))
    for name, content in fonts.items():
        files.append(File.generated(config, f"assets/fonts/{name}", content=content))
