"""docs/glossary.yml: terms, tooltips and the page Glossary."""

import functools
import html
from collections.abc import Iterator

import yaml

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import parse_yaml
from bookbuild.pages.page import SourcePage
from bookbuild.pages.paths import LANGUAGES


@functools.cache
def parse_glossary(mtime: int) -> list[dict]:
    path = paths.DOCS / "glossary.yml"
    text = path.read_text(encoding="utf-8")
    entries = parse_yaml(path, text)
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise SourceError(path, 1, "is no list of terms; each begins with - en: TERM")
    for number, entry in enumerate(entries):
        for key in sorted(key for key in REQUIRED_KEYS if not isinstance(entry.get(key), str)):
            (root,) = yaml.compose_all(text)
            line = root.value[number].start_mark.line + 1
            required = ", ".join(sorted(REQUIRED_KEYS))
            what = f"{entry.get('en', 'a term')} has no {key}; each has {required}"
            raise SourceError(path, line, what)
    return sorted(entries, key=lambda entry: entry["en"].lower())


def load_glossary() -> list[dict]:
    return parse_glossary((paths.DOCS / "glossary.yml").stat().st_mtime_ns)


def tooltips(language: str) -> dict[str, str]:
    """Each form of each term, and what hovering over it tells."""
    tips = {}
    for entry in load_glossary():
        if not entry.get("tip", True):
            continue  # also an everyday word
        # One character alone would be found inside other words.
        chinese = [entry["zh"]] if len(entry["zh"]) > 1 else []
        forms = chinese if language == "zh" else [entry["en"], *entry.get("also", [])]
        other = entry["en"] if language == "zh" else entry["zh"]
        for form in forms:
            tips[form] = f"{entry[f'{language}_meaning']} ({other})"
    return tips


REQUIRED_KEYS = {"en", "zh", "anchor", "where", "en_meaning", "zh_meaning"}  # each term has them
OPTIONAL_KEYS = {"also", "zh_also", "not", "tip"}


def entry_error(entry: dict, key: str, what: str) -> SourceError:
    """A fault of a term, at the line of its key."""
    path = paths.DOCS / "glossary.yml"
    text = path.read_text(encoding="utf-8")
    (root,) = yaml.compose_all(text)
    node = root.value[yaml.safe_load(text).index(entry)]
    at = {name.value: name for name, _ in node.value}.get(key, node)
    return SourceError(path, at.start_mark.line + 1, what)


def glossary_errors() -> Iterator[SourceError]:
    """Terms without a part, and those that lead to a page or an anchor that isn't there."""
    anchors: dict[SourcePage, set[str]] = {}
    try:
        entries = load_glossary()
    except SourceError as fault:
        yield fault
        return
    for entry in entries:
        term = entry["en"]
        for key in sorted(entry.keys() - REQUIRED_KEYS - OPTIONAL_KEYS):
            known = ", ".join(sorted(OPTIONAL_KEYS))
            what = f"{term} has {key}, which means nothing here; there are also {known}"
            yield entry_error(entry, key, what)
        name, _, anchor = entry["where"].partition("#")
        for page in [SourcePage(language, name) for language in LANGUAGES if name]:
            if page not in anchors:
                anchors[page] = page.anchors() if page.path.exists() else set()
            if not page.path.exists() and page.translation.path.exists():
                continue  # told by twin_faults
            if not page.path.exists():
                yield entry_error(
                    entry,
                    "where",
                    f"{term} leads to {page.display_path}, which isn't there; correct where",
                )
            elif anchor not in anchors[page]:
                what = f"{term}: {page.display_path} has no anchor #{anchor}; correct where"
                yield entry_error(entry, "where", what)


def glossary_table(language: str) -> str:
    """The glossary page's table, one row a term, below the letters that lead into it."""
    heads = {
        "en": ("Term", "中文", "Meaning, and where it is treated"),
        "zh": ("术语", "English", "含义，以及在哪里讲"),
    }
    rows = [heads[language], ("---", "---", "---")]
    other = "zh" if language == "en" else "en"
    gap = " " if language == "en" else ""
    named = {entry["where"].partition("#")[0] for entry in load_glossary()}
    found = {name: page for name in named if (page := SourcePage(language, name)).path.exists()}
    titles = {name: page.title for name, page in found.items()}
    letters: list[str] = []
    for entry in load_glossary():
        anchor, letter = f'<span id="{entry["anchor"]}"></span>', entry["en"][0].upper()
        if letter not in letters:
            letters.append(letter)
            anchor += f'<span id="letter-{letter.lower()}"></span>'
        meaning = html.escape(entry[f"{language}_meaning"], quote=False)
        title = titles.get(entry["where"].partition("#")[0], "")
        rows.append(
            (
                f"{anchor}{entry[language]}",
                entry[other],
                f'{meaning}{gap}<span class="where">[{title}]({entry["where"]})</span>',
            )
        )
    jumps = " ".join(f"[{letter}](#letter-{letter.lower()})" for letter in letters)
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    opening = f'{jumps}\n{{ .letters }}\n\n<div class="glossary" markdown>'
    return f"{opening}\n\n{table}\n</div>\n"


def segmentation_words() -> str:
    """The terms that the Chinese search keeps whole, as jieba reads them."""
    words = sorted(entry["zh"] for entry in load_glossary() if len(entry["zh"]) > 1)
    return "".join(f"{word}\n" for word in words)
