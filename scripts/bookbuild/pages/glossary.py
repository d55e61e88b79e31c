"""docs/glossary.yml: terms, tooltips and the Glossary page; docs/search.yml."""

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
    for name, entries, end in (
        ("glossary", load_glossary(), "#"),
        ("search", load_search_words(), ""),
    ):
        places = [entry["where"] for entry in entries]
        targets = [(place.line, place if "#" in place else f"{place}{end}") for place in places]
        yield from target_errors(paths.DOCS / f"{name}.yml", targets)


def glossary_table(language: str) -> str:
    """The Glossary page's table, one row per term, below an index of initial letters."""
    terms = load_glossary()
    pages = {term["where"]: SourcePage(language, term["where"].partition("#")[0]) for term in terms}
    titles = {where: page.title if page.path.exists() else "" for where, page in pages.items()}
    return render("glossary.md", language, terms=terms, titles=titles, other_names=other_names)


def other_names(term: Entry) -> str:
    """Abbreviations and second names of a term: GQA, not its plural."""
    begin = term["en"][:3].lower()
    return ", ".join(form for form in term.get("also", []) if form[:3].lower() != begin)


def load_search_words() -> list[Entry]:
    """docs/search.yml: other words that readers look for."""
    return load_entries(paths.DOCS / "search.yml", ("where", "en", "zh"))


def search_names(language: str) -> Iterator[tuple[str, str]]:
    """The places that the search finds by other words, and these words: terms, also in the other
    language and in words that the book avoids, and those of docs/search.yml."""
    keys = ("en", "also", "zh") if language == "en" else ("zh", "zh_also", "not", "en", "also")
    for term in load_glossary():
        values = (term.get(key, []) for key in keys)
        forms = (form for each in values for form in ([each] if isinstance(each, str) else each))
        yield term["where"], "; ".join(forms)
    for entry in load_search_words():
        yield entry["where"], entry[language]
