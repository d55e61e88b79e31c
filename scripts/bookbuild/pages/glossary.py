"""docs/glossary.yml: terms, tooltips and the Glossary page."""

import functools
import html
from collections.abc import Iterator

import yaml

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import parse_yaml
from bookbuild.pages.page import SourcePage
from bookbuild.pages.paths import LANGUAGES

REQUIRED_KEYS = {"en", "zh", "anchor", "where", "en_meaning", "zh_meaning"}
OPTIONAL_KEYS = {"also", "zh_also", "not", "tip"}


@functools.cache
def parse_glossary(modified_ns: int) -> list[dict]:
    """The terms, sorted. modified_ns is only part of the cache key."""
    path = paths.DOCS / "glossary.yml"
    text = path.read_text(encoding="utf-8")
    terms = parse_yaml(path, text)
    if not isinstance(terms, list) or not all(isinstance(term, dict) for term in terms):
        raise SourceError(path, 1, "is not a list of terms; start each one with - en: TERM")
    for number, term in enumerate(terms):
        for key in sorted(key for key in REQUIRED_KEYS if not isinstance(term.get(key), str)):
            (root,) = yaml.compose_all(text)
            line = root.value[number].start_mark.line + 1
            required = ", ".join(sorted(REQUIRED_KEYS))
            message = f"{term.get('en', 'a term')} has no {key}; required keys: {required}"
            raise SourceError(path, line, message)
    return sorted(terms, key=lambda term: term["en"].lower())


def load_glossary() -> list[dict]:
    """The terms of docs/glossary.yml, sorted by their English names."""
    return parse_glossary((paths.DOCS / "glossary.yml").stat().st_mtime_ns)


def tooltips(language: str) -> dict[str, str]:
    """The tooltip of each form of each term."""
    tips = {}
    for term in load_glossary():
        if not term.get("tip", True):
            continue  # also an everyday word
        # A single character would also match inside other words.
        chinese = [term["zh"]] if len(term["zh"]) > 1 else []
        forms = chinese if language == "zh" else [term["en"], *term.get("also", [])]
        other_name = term["en"] if language == "zh" else term["zh"]
        for form in forms:
            tips[form] = f"{term[f'{language}_meaning']} ({other_name})"
    return tips


def glossary_error(term: dict, key: str, message: str) -> SourceError:
    """An error at the line of a term's key in docs/glossary.yml."""
    path = paths.DOCS / "glossary.yml"
    text = path.read_text(encoding="utf-8")
    (root,) = yaml.compose_all(text)
    node = root.value[yaml.safe_load(text).index(term)]
    key_node = {name.value: name for name, _ in node.value}.get(key, node)
    return SourceError(path, key_node.start_mark.line + 1, message)


def glossary_errors() -> Iterator[SourceError]:
    """Terms with missing or unknown keys, or that link to a missing page or anchor."""
    anchors: dict[SourcePage, set[str]] = {}
    try:
        terms = load_glossary()
    except SourceError as error:
        yield error
        return
    for term in terms:
        english = term["en"]
        for key in sorted(term.keys() - REQUIRED_KEYS - OPTIONAL_KEYS):
            optional = ", ".join(sorted(OPTIONAL_KEYS))
            message = f"{english} has the unknown key {key}; optional keys: {optional}"
            yield glossary_error(term, key, message)
        name, _, anchor = term["where"].partition("#")
        for page in [SourcePage(language, name) for language in LANGUAGES if name]:
            if page not in anchors:
                anchors[page] = page.anchors() if page.path.exists() else set()
            if not page.path.exists() and page.translation.path.exists():
                continue  # reported by translation_errors
            if not page.path.exists():
                message = (
                    f"{english} links to the missing page {page.display_path}; correct its where"
                )
                yield glossary_error(term, "where", message)
            elif anchor not in anchors[page]:
                message = (
                    f"{english}: {page.display_path} has no anchor #{anchor}; correct its where"
                )
                yield glossary_error(term, "where", message)


def glossary_table(language: str) -> str:
    """The Glossary page's table, one row per term, below an index of initial letters."""
    heads = {
        "en": ("Term", "中文", "Meaning, and where it is treated"),
        "zh": ("术语", "English", "含义，以及在哪里讲"),
    }
    rows = [heads[language], ("---", "---", "---")]
    other_language = "zh" if language == "en" else "en"
    space = " " if language == "en" else ""
    names = {term["where"].partition("#")[0] for term in load_glossary()}
    pages = {name: page for name in names if (page := SourcePage(language, name)).path.exists()}
    titles = {name: page.title for name, page in pages.items()}
    letters: list[str] = []
    for term in load_glossary():
        anchor, letter = f'<span id="{term["anchor"]}"></span>', term["en"][0].upper()
        if letter not in letters:
            letters.append(letter)
            anchor += f'<span id="letter-{letter.lower()}"></span>'
        meaning = html.escape(term[f"{language}_meaning"], quote=False)
        title = titles.get(term["where"].partition("#")[0], "")
        rows.append(
            (
                f"{anchor}{term[language]}",
                term[other_language],
                f'{meaning}{space}<span class="where">[{title}]({term["where"]})</span>',
            )
        )
    letter_links = " ".join(f"[{letter}](#letter-{letter.lower()})" for letter in letters)
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    opening = f'{letter_links}\n{{ .letters }}\n\n<div class="glossary" markdown>'
    return f"{opening}\n\n{table}\n</div>\n"


def segmentation_words() -> str:
    """The user dictionary for jieba: Chinese terms that search must not split."""
    words = sorted(term["zh"] for term in load_glossary() if len(term["zh"]) > 1)
    return "".join(f"{word}\n" for word in words)
