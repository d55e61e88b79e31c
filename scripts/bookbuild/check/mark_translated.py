"""Record which translations were reviewed and which are behind: scripts/translated.

The key `translated` in the front matter of a Chinese page, or in the metadata of a lab's
notebook, is the hash of the English page that it was reviewed against. A page in either
language that is behind its translation has `translation: pending`.
"""

import argparse
import json
import re

from bookbuild.pages.files import write_file
from bookbuild.pages.labs import notebooks
from bookbuild.pages.page import FRONT_MATTER, PENDING, SourcePage, page_url
from bookbuild.pages.templates import render

LANGUAGE_FOLDER = re.compile(r"^(?:docs/)?(en|zh)/")


def with_pending_note(markdown: str, page: SourcePage) -> str:
    """Add a note below the title of a page, and the anchors that only its translation has."""
    missing = sorted(page.anchors() - page.own_anchors())
    anchors = "".join(f'<span id="{anchor}"></span>' for anchor in missing)
    url = page_url(page.name)
    link = "../" * url.count("/") + ("zh/" if page.language == "en" else "../") + url
    note = render("pending.md", page.language, anchors=anchors, link=link)
    return re.sub(r"^# .*\n", lambda title: title[0] + note, markdown, count=1, flags=re.M)


def set_meta(page: SourcePage, key: str, value: str | None) -> None:
    """Set a key of the front matter, or of a notebook's metadata; None removes it."""
    if page.is_notebook:
        notebook = json.loads(page.path.read_text(encoding="utf-8"))
        meta = notebook["metadata"].setdefault("book", {})
        meta.pop(key, None)
        if value:
            meta[key] = value
        write_file(page.path, notebooks.canonical_json(notebook))
        return
    match = FRONT_MATTER.match(page.text)
    lines = match[1].split("\n") if match else []
    body = page.text[match.end() :] if match else f"\n{page.text}"
    index = next((i for i, line in enumerate(lines) if line.startswith(f"{key}:")), len(lines))
    lines[index : index + 1] = [f"{key}: {value}"] if value else []
    head = "\n".join(["---", *lines, "---", ""]) if lines else ""
    write_file(page.path, head + body)


def both_pages(name: str) -> tuple[SourcePage, SourcePage]:
    """The English and the Chinese page of this name or path, of which at least one exists."""
    name = re.sub(r"\.(md|ipynb)$", "", LANGUAGE_FOLDER.sub("", name))
    english = SourcePage("en", f"{name}.md")
    if not (english.path.exists() or english.translation.path.exists()):
        raise FileNotFoundError(f"no page {english.display_path}; use a name like attention")
    return english, english.translation


def mark_translated(name: str) -> str:
    """Mark both pages as reviewed against each other; returns the line that was written."""
    english, chinese = both_pages(name)
    for page in (english, chinese):
        if not page.path.exists():
            raise FileNotFoundError(f"no page {page.display_path}")
        if page.is_pending:
            set_meta(page, "translation", None)
    set_meta(chinese, "translated", english.digest())
    return f"translated: {english.digest()}"


def mark_pending(name: str) -> SourcePage:
    """Mark the page that is behind: that of the language in the name, zh/masks, or the Chinese one
    if the English one has changed since the last review. A page that does not exist is created.

    Raises ValueError if the name has no language and nothing shows which page is behind.
    """
    english, chinese = pages = both_pages(name)
    behind = next((page for page in pages if page.is_pending or not page.path.exists()), None)
    if language := LANGUAGE_FOLDER.match(name):
        behind = english if language[1] == "en" else chinese
        if not behind.translation.path.exists():
            raise ValueError(f"no page {behind.translation.display_path}; write it first")
    elif not behind:
        if chinese.meta.get("translated") == english.digest():
            page, other = english.display_path, chinese.display_path
            problem = f"{page} has not changed since {other} was reviewed against it"
            raise ValueError(f"{problem}; name the page that is behind: en/{name} or zh/{name}")
        behind = chinese
    if not behind.path.exists():
        create_page(behind)
    set_meta(behind, "translation", PENDING)
    return behind


def create_page(page: SourcePage) -> None:
    """Create a page with only the front matter and the title of its translation, or copy a lab,
    which runs in both languages."""
    source = page.translation
    if page.is_notebook:
        write_file(page.path, source.path.read_text(encoding="utf-8"))
    else:
        front_matter = FRONT_MATTER.match(source.text)
        write_file(page.path, f"{front_matter[0] if front_matter else ''}\n# {source.heading}\n")
    set_meta(page, "translated", None)


def main() -> None:
    """Mark pages as reviewed or as behind their translation."""
    parser = argparse.ArgumentParser(prog="scripts/translated", description=main.__doc__)
    parser.add_argument("pages", nargs="+", metavar="PAGE", help="attention, labs/look-inside, …")
    parser.add_argument(
        "--pending", action="store_true", help="the page in the other language is behind"
    )
    arguments = parser.parse_args()
    for name in arguments.pages:
        try:
            if arguments.pending:
                page = mark_pending(name)
                message = f"{page.display_path} is marked as behind {page.translation.display_path}"
            else:
                message = f"{name} {mark_translated(name)}"
        except (FileNotFoundError, ValueError) as error:
            parser.error(str(error))
        print(message)


if __name__ == "__main__":
    main()
