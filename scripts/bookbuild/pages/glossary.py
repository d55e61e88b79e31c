"""docs/glossary.yml: terms, tooltips and the Glossary page."""

import html
from collections.abc import Iterator

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import Entry, load_entries
from bookbuild.pages.page import SourcePage, target_errors
from bookbuild.pages.paths import LANGUAGES

REQUIRED_KEYS = ("en", "zh", "anchor", "where", "en_meaning", "zh_meaning")
OPTIONAL_KEYS = ("also", "zh_also", "not", "tip")
TABLE_HEADS = {
    "en": "| Term | 中文 | Meaning, and where it is treated |",
    "zh": "| 术语 | English | 含义，以及在哪里讲 |",
}


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
    """Terms with missing or unknown keys, or that link to a missing page or anchor."""
    try:
        terms = load_glossary()
    except SourceError as error:
        yield error
        return
    places = [term["where"] for term in terms]
    targets = [(place.line, place if "#" in place else f"{place}#") for place in places]
    yield from target_errors(paths.DOCS / "glossary.yml", targets)


def glossary_table(language: str) -> str:
    """The Glossary page's table, one row per term, below an index of initial letters."""
    other_language = LANGUAGES[1 - LANGUAGES.index(language)]
    space = " " if language == "en" else ""
    rows, letters = [], []
    for term in load_glossary():
        anchor, letter = f'<span id="{term["anchor"]}"></span>', term["en"][0].upper()
        if letter not in letters:
            letters.append(letter)
            anchor += f'<span id="letter-{letter.lower()}"></span>'
        meaning = html.escape(term[f"{language}_meaning"], quote=False)
        page = SourcePage(language, term["where"].partition("#")[0])
        title = page.title if page.path.exists() else ""
        where = f'<span class="where">[{title}]({term["where"]})</span>'
        rows.append(
            f"| {anchor}{term[language]} | {term[other_language]} | {meaning}{space}{where} |"
        )
    links = " ".join(f"[{letter}](#letter-{letter.lower()})" for letter in letters)
    table = "\n".join([TABLE_HEADS[language], "| --- | --- | --- |", *rows])
    return f'{links}\n{{ .letters }}\n\n<div class="glossary" markdown>\n\n{table}\n\n</div>\n'


def segmentation_words() -> str:
    """The user dictionary for jieba: Chinese terms that search must not split."""
    words = sorted(term["zh"] for term in load_glossary() if len(term["zh"]) > 1)
    return "".join(f"{word}\n" for word in words)
