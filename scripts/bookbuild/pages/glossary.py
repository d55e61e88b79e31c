"""docs/glossary.yml: terms, tooltips and the Glossary page."""

from collections.abc import Iterator

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import Entry, load_entries
from bookbuild.pages.page import SourcePage, target_errors
from bookbuild.pages.templates import render

REQUIRED_KEYS = ("en", "zh", "anchor", "where", "en_meaning", "zh_meaning")
OPTIONAL_KEYS = ("also", "zh_also", "not", "tip")


def load_glossary() -> list[Entry]:
    """The terms of docs/glossary.yml, sorted by their English names."""
    terms = load_entries(paths.DOCS / "glossary.yml", REQUIRED_KEYS, OPTIONAL_KEYS)
    return sorted(terms, key=lambda term: term["en"].lower())


def tooltips(language: str) -> dict[str, str]:
    """The tooltip of each form of each term."""
    tips = {}
    for term in load_glossary():
        if term.get("tip") == "false":
            continue  # also an everyday word
        # A single character would also match inside other words.
        chinese = [term["zh"]] if len(term["zh"]) > 1 else []
        forms = chinese if language == "zh" else [term["en"], *term.get("also", [])]
        other_name = term["en"] if language == "zh" else term["zh"]
        for form in forms:
            tips[form] = f"{term[f'{language}_meaning']} ({other_name})"
    return tips


def glossary_errors() -> Iterator[SourceError]:
    """Terms that link to a missing page or anchor. Raises SourceError for an invalid one."""
    places = [term["where"] for term in load_glossary()]
    targets = [(place.line, place if "#" in place else f"{place}#") for place in places]
    yield from target_errors(paths.DOCS / "glossary.yml", targets)


def glossary_table(language: str) -> str:
    """The Glossary page's table, one row per term, below an index of initial letters."""
    terms = load_glossary()
    pages = {term["where"]: SourcePage(language, term["where"].partition("#")[0]) for term in terms}
    titles = {where: page.title if page.path.exists() else "" for where, page in pages.items()}
    return render("glossary.md", language, terms=terms, titles=titles)


def segmentation_words() -> str:
    """The user dictionary for jieba: Chinese terms that search must not split."""
    words = sorted(term["zh"] for term in load_glossary() if len(term["zh"]) > 1)
    return "".join(f"{word}\n" for word in words)
