"""The book's sources: where they lie, what its pages include, what is wrong.

Everything here reads files and returns values; scripts/hooks.py calls it from
MkDocs, the tests call it directly.
"""

import functools
import hashlib
import html
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import yaml

import labs

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SNIPPETS = ROOT / "snippets"
SCRIPTS = ROOT / "scripts"
GENERATED = ROOT / ".generated"
DOWNLOADS = GENERATED / "downloads"
LANGUAGES = ("en", "zh")
NOT_EXAMPLES = ("proofs/", "pitfalls/")  # what else prints values that pages say

MARK = re.compile(r"^(?:#|//) --8<-- \[(start|end):(\w+)\]\n", re.M)
INCLUDE = re.compile(r'^ *--8<-- "([^":]+)(?::(\w+))?"$', re.M)
SHOWN = ("*.py", "*.js", "variants/*.py")  # in snippets/: every section on one page
VALUE = re.compile(r"\{\{ (.*?) \}\}")
FIGURE = re.compile(r"!\[([^\]]*)\]\((figures/[^)]+\.svg)\)")
FENCE = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2$", re.M | re.S)
HEADING = re.compile(r"^#{1,6} +(.*?) *(?:\{ *#([\w-]+)[^}\n]*\})? *$", re.M)
FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n", re.S)
PART = ".part"  # how the name of a file ends that is being written
TEXTS = (".ipynb", ".js", ".json", ".md", ".py", ".yml")


class Trouble(Exception):
    """Something is wrong with the machine, not with a source: 'what; what to do'."""


class Fault(Exception):
    """Something wrong in a source, at a line: 'file:line: what; what to do'."""

    def __init__(self, path: Path, line: int, what: str):
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        super().__init__(f"{shown}:{line}: {what}")


class Include(NamedTuple):
    """A line --8<-- "file:section" of a page."""

    line: int
    file: str
    section: str | None


class Heading(NamedTuple):
    """A heading of a page, in Markdown, and its anchor; the title has none."""

    line: int
    title: str
    anchor: str | None


@dataclass(frozen=True)
class Page:
    """One page in one language."""

    language: str
    name: str  # embeddings.md; labs/look-inside.md, though its file is a notebook

    @property
    def path(self) -> Path:
        path = DOCS / self.language / self.name
        notebook = path.with_suffix(".ipynb")
        return notebook if notebook.exists() else path

    @property
    def file(self) -> str:
        """As a person knows it: docs/en/embeddings.md."""
        suffix = self.path.suffix if self.path.exists() else self.twin.path.suffix
        return f"docs/{self.language}/{self.name.removesuffix('.md')}{suffix}"

    @property
    def twin(self) -> "Page":
        other = LANGUAGES[1 - LANGUAGES.index(self.language)]
        return Page(other, self.name)

    @property
    def is_lab(self) -> bool:
        return self.path.suffix == ".ipynb"

    @property
    def text(self) -> str:
        if self.is_lab:
            return "".join(f"{text}\n" for text, _ in self.lab_lines())
        return self.path.read_text(encoding="utf-8")

    def lab_lines(self) -> list[tuple[str, int]]:
        """A lab's Markdown, each line with the line of the notebook that it is from."""
        shown = GENERATED / "outputs" / f"{self.name.removesuffix('.md')}.json"
        outputs = json.loads(shown.read_text(encoding="utf-8")) if shown.exists() else []
        return [*labs.lines(self.path, self.language, outputs)]

    @property
    def meta(self) -> dict:
        match = FRONT_MATTER.match(self.text)
        found = read_yaml(self.path, match[1], 2) if match else {}
        if not isinstance(found, dict):
            raise Fault(self.path, 2, "the front matter is no mapping; write description: TEXT")
        return found

    @property
    def title(self) -> str:
        """As its first heading tells it."""
        return next((each.title for each in headings(self)), self.name)

    def fault(self, position: int, what: str) -> Fault:
        line = line_of(self.text, position)
        if self.is_lab:
            _, line = self.lab_lines()[line - 1]
        return Fault(self.path, line, what)

    def includes(self) -> list[Include]:
        text = self.text
        return [
            Include(line_of(text, match.start()), match[1], match[2])
            for match in INCLUDE.finditer(text)
        ]

    def digest(self) -> str:
        """What a twin is stamped with."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()[:12]


def pages(language: str) -> list[Page]:
    folder = DOCS / language
    files = (path for suffix in ("md", "ipynb") for path in folder.rglob(f"*.{suffix}"))
    names = {path.relative_to(folder).with_suffix(".md").as_posix() for path in files}
    return [Page(language, name) for name in sorted(names)]


def headings(page: Page) -> list[Heading]:
    return headings_in(page.text)


@functools.lru_cache(maxsize=128)
def headings_in(text: str) -> list[Heading]:
    text = outside_fences(text)
    return [Heading(line_of(text, m.start()), m[1], m[2]) for m in HEADING.finditer(text)]


def line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def text_faults() -> Iterator[Fault]:
    """Files that can't be read as what they are; to be asked before anything reads them."""
    for folder in (DOCS, SNIPPETS, SCRIPTS / "figures", ROOT / "tests" / "snippets"):
        for path in sorted(each for each in folder.rglob("*") if each.suffix in TEXTS):
            if path.is_symlink() and not path.exists():
                what = f"is a link to {os.readlink(path)}, which isn't there; mend it or remove it"
                yield Fault(path, 1, what)
            elif path.is_file():
                yield from byte_faults(path, path.read_bytes())
                if path.suffix == ".ipynb":
                    yield from json_faults(path)


def byte_faults(path: Path, data: bytes) -> Iterator[Fault]:
    """UTF-8 with bare line feeds is what everything here reads."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        yield Fault(path, line, "is not in UTF-8; save it so, whatever your editor calls it")
    if data.startswith(b"\xef\xbb\xbf"):
        yield Fault(path, 1, "begins with a byte order mark; save it as UTF-8 without BOM")
    if b"\r\n" in data:
        line = data.count(b"\n", 0, data.index(b"\r\n")) + 1
        how = "save it with LF, and let Git keep that: git config core.autocrlf input"
        yield Fault(path, line, f"lines end with CRLF; {how}")


def json_faults(path: Path) -> Iterator[Fault]:
    try:
        notebook = json.loads(path.read_bytes())
        [cell["id"] for cell in notebook["cells"]]
    except json.JSONDecodeError as error:
        how = "git restore it, or save it anew in Jupyter"
        yield Fault(path, error.lineno, f"is no whole notebook: {error.msg}; {how}")
    except (KeyError, TypeError):
        yield Fault(path, 1, "is no notebook of Jupyter with ids of cells; save it anew there")
    except UnicodeDecodeError:
        pass  # told by byte_faults


def read_yaml(path: Path, text: str, first: int = 1) -> object:
    """What a file says, or its front matter that begins at a line. Raises Fault."""
    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        raise yaml_fault(path, error, first) from None
    except yaml.reader.ReaderError as error:
        what = f"no YAML: {error.reason}; remove the character #x{error.character:04x}"
        raise Fault(path, first + text.count("\n", 0, error.position), what) from None


def yaml_fault(path: Path, error: yaml.MarkedYAMLError, first: int = 1) -> Fault:
    # A bracket is told where it opens.
    mark = error.context_mark if "flow" in (error.context or "") else error.problem_mark
    how = 'a text with ": " in it, or one of [ { & * at its beginning, stands between quotes'
    return Fault(path, first + (mark.line if mark else 0), f"no YAML: {error.problem}; {how}")


def write(path: Path, text: str | bytes) -> None:
    """Write a file whole or not at all, and only if its bytes change."""
    data = text.encode() if isinstance(text, str) else text
    if path.exists() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, part = tempfile.mkstemp(PART, dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException as error:  # a full disk, or Ctrl-C
        os.unlink(part)
        if isinstance(error, OSError):
            error.filename = str(path)
        raise


# Sections of the snippets


def without_marks(path: Path) -> str:
    """The file as readers download it."""
    return MARK.sub("", path.read_text(encoding="utf-8")).rstrip("\n") + "\n"


def unended(name: str) -> str:
    return f"section {name} has no end mark; put --8<-- [end:{name}] below it"


def sections(path: Path) -> dict[str, str]:
    """A file's named sections, in order. Raises Fault for an unpaired mark."""
    text = path.read_text(encoding="utf-8")
    found: dict[str, str] = {}
    opened: tuple[str, re.Match[str]] | None = None
    for mark in MARK.finditer(text):
        kind, name = mark.groups()
        here = line_of(text, mark.start())
        if kind == "start":
            if opened:
                line = line_of(text, opened[1].start())
                raise Fault(path, line, unended(opened[0]))
            if name in found:
                raise Fault(path, here, f"section {name} stands twice; give each a name of its own")
            opened = (name, mark)
        elif opened is None or opened[0] != name:
            raise Fault(
                path, here, f"end mark of {name} without its start; one of the two is too much"
            )
        else:
            found[name] = text[opened[1].end() : mark.start()]
            opened = None
    if opened:
        line = line_of(text, opened[1].start())
        raise Fault(path, line, unended(opened[0]))
    return found


# What is wrong with a page


def bases(language: str) -> list[Path]:
    """Where includes are looked for, as mkdocs.yml tells the snippets extension."""
    return [SNIPPETS, GENERATED, GENERATED / language]


def page_faults(page: Page) -> Iterator[Fault]:
    """Includes, figures and values that are not there."""
    for line, file, section in page.includes():
        path = next((p for b in bases(page.language) if (p := b / file).is_file()), None)
        if path is None:
            what = f"no file {file} in snippets/ or .generated/; correct the name or write it"
            yield Fault(page.path, line, what)
        elif section is not None:
            try:
                names = list(sections(path))
            except Fault as fault:
                yield fault
                continue
            if section not in names:
                has = ", ".join(names) or "none"
                yield Fault(
                    page.path,
                    line,
                    f"no section {section} in {file}; it has {has}",
                )
    try:
        page.meta  # noqa: B018
    except Fault as fault:
        yield fault
    for match in FIGURE.finditer(page.text):
        if not (GENERATED / page.language / match[2]).is_file():
            yield page.fault(
                match.start(),
                f"no {match[2]}; scripts/{Path(match[2]).parent}.py draws it? "
                "Correct the name or write the function",
            )
        if not match[1].strip():
            what = f"{match[2]} has no alternative text; say between [ and ] what is to be seen"
            yield page.fault(match.start(), what)
    for match in VALUE.finditer(outside_fences(page.text)):
        try:
            value(match[1])
        except ValueError as error:
            yield page.fault(match.start(), str(error))


@functools.lru_cache(maxsize=128)
def outside_fences(text: str) -> str:
    """The text with its code blocks blanked, every character in its place."""
    return FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def value(reference: str) -> str:
    """The value of 'chapter/example: label' in what the example printed, or a proof."""
    name, colon, label = reference.partition(": ")
    printed = f"{name}.txt" if name.startswith(NOT_EXAMPLES) else f"examples/{name}.txt"
    path = GENERATED / "outputs" / printed
    if not colon or not path.is_file():
        raise ValueError(
            f"{{{{ {reference} }}}} names no example; "
            "it should read {{ chapter/example: label }}"
        )
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [line for line in lines if line.startswith(f"{label}: ")]
    if len(found) != 1:
        labels = ", ".join(each.partition(": ")[0] for each in lines if ": " in each)
        raise ValueError(
            f"{len(found)} lines of outputs/{printed} begin with '{label}: '; "
            f"exactly one is needed, and there are {labels or 'no labels'}"
        )
    return found[0].removeprefix(f"{label}: ").strip()


def with_values(text: str) -> str:
    """The page with each {{ chapter/example: label }} replaced by its value."""
    fences = [(m.start(), m.end()) for m in FENCE.finditer(text)]

    def replace(match: re.Match[str]) -> str:
        if any(start <= match.start() < end for start, end in fences):
            return match[0]
        return value(match[1])

    return VALUE.sub(replace, text)


def snippet_faults() -> Iterator[Fault]:
    for path in sorted([*SNIPPETS.rglob("*.py"), *SNIPPETS.glob("*.js")]):
        try:
            sections(path)
        except Fault as fault:
            yield fault


def unshown(language: str) -> Iterator[Fault]:
    """Outputs and sections that no page of the language shows, or two do."""
    shown: dict[tuple[str, str | None], list[Page]] = {}
    quoted: set[str] = set()
    figures: set[str] = set()
    for page in pages(language):
        for _, file, section in page.includes():
            shown.setdefault((file, section), []).append(page)
        quoted |= {m[1].partition(": ")[0] for m in VALUE.finditer(page.text)}
        figures |= {m[2] for m in FIGURE.finditer(page.text)}
    for path in sorted((GENERATED / "outputs").rglob("*.txt")):
        name = path.relative_to(GENERATED).as_posix()
        source = f"{name.removeprefix('outputs/').removesuffix('.txt')}.py"
        is_quoted = source.removeprefix("examples/").removesuffix(".py") in quoted
        if (name, None) not in shown and not is_quoted:
            yield Fault(
                (SCRIPTS if source.startswith("proofs/") else SNIPPETS) / source,
                1,
                f"no page of docs/{language} shows its output; include {name} there, or remove it",
            )
    for path in sorted((GENERATED / language / "figures").rglob("*.svg")):
        name = path.relative_to(GENERATED / language).as_posix()
        if name not in figures:
            source_path = SCRIPTS / f"{Path(name).parent}.py"
            what = f"no page of docs/{language} shows {name}; show it there, or remove it"
            yield Fault(source_path, 1, what)
    for path in sorted(each for pattern in SHOWN for each in SNIPPETS.glob(pattern)):
        try:
            names = list(sections(path))
        except Fault:
            continue  # told by snippet_faults
        file = path.relative_to(SNIPPETS).as_posix()
        for name in names or [None]:
            count = len(shown.get((file, name), []))
            if count != 1:
                text = path.read_text(encoding="utf-8")
                line = line_of(text, text.index(f"[start:{name}]")) if name else 1
                what = f"section {name}" if name else "the file"
                how = "no page" if count == 0 else f"{count} places"
                should = f'show it once: --8<-- "{file}{f":{name}" if name else ""}"'
                yield Fault(path, line, f"{what} is shown in {how} of docs/{language}; {should}")


# The two languages


def twin_faults() -> Iterator[Fault]:
    """Pages without a twin, and translations of an older page."""
    for language in LANGUAGES:
        for page in pages(language):
            if not page.twin.path.exists():
                name = page.name.removesuffix(".md")
                how = f"write it, then run scripts/translated {name}"
                yield Fault(page.path, 1, f"has no twin {page.twin.file}; {how}")
    for page in pages("zh"):
        if page.twin.path.exists() and page.meta.get("translated") != page.twin.digest():
            name = page.name.removesuffix(".md")
            yield Fault(
                page.path,
                1,
                f"{page.twin.file} has changed since this page was checked against it: "
                f"read both, then run scripts/translated {name}",
            )


def lab_faults() -> Iterator[Fault]:
    """Notebooks with outputs in them, and code that differs between the languages."""
    for page in pages(LANGUAGES[0]):
        if page.is_lab:
            twins = [page.path, *([page.twin.path] if page.twin.path.exists() else [])]
            yield from (Fault(*fault) for fault in labs.faults(twins))


def stamp(name: str) -> str:
    """Note in the Chinese page that it was checked against the English one."""
    page = Page("zh", f"{name.removesuffix('.md')}.md")
    for path in (page.path, page.twin.path):
        if not path.exists():
            raise FileNotFoundError(f"there is no {path.relative_to(ROOT)}")
    line = f"translated: {page.twin.digest()}"
    if page.is_lab:
        notebook = json.loads(page.path.read_text(encoding="utf-8"))
        notebook["metadata"]["book"]["translated"] = page.twin.digest()
        write(page.path, labs.canonical(notebook))
        return line
    text, match = page.text, FRONT_MATTER.match(page.text)
    if not match:
        text = f"---\n{line}\n---\n\n{text}"
    elif re.search(r"^translated:", match[1], re.M):
        head = re.sub(r"^translated:.*$", line, match[0], flags=re.M)
        text = head + text[match.end() :]
    else:
        text = f"---\n{match[1]}\n{line}\n---\n{text[match.end() :]}"
    write(page.path, text)
    return line


def forgotten() -> Iterator[Fault]:
    """What a person still has to do before the book is whole."""
    yield from twin_faults()
    for language in LANGUAGES:
        yield from unshown(language)
        for page in pages(language):
            if not page.meta.get("description"):
                how = "write into its front matter what it is about, in a sentence"
                yield Fault(page.path, 1, f"has no description; {how}")


# The glossary


@functools.cache
def read_glossary(mtime: int) -> list[dict]:
    path = DOCS / "glossary.yml"
    text = path.read_text(encoding="utf-8")
    entries = read_yaml(path, text)
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        raise Fault(path, 1, "is no list of terms; each begins with - en: TERM")
    for number, entry in enumerate(entries):
        for key in sorted(key for key in KEYS if not isinstance(entry.get(key), str)):
            (root,) = yaml.compose_all(text)
            line = root.value[number].start_mark.line + 1
            what = f"{entry.get('en', 'a term')} has no {key}; each has {', '.join(sorted(KEYS))}"
            raise Fault(path, line, what)
    return sorted(entries, key=lambda entry: entry["en"].lower())


def glossary() -> list[dict]:
    return read_glossary((DOCS / "glossary.yml").stat().st_mtime_ns)


def tooltips(language: str) -> dict[str, str]:
    """Each form of each term, and what hovering over it tells."""
    tips = {}
    for entry in glossary():
        if not entry.get("tip", True):
            continue  # also an everyday word
        # One character alone would be found inside other words.
        chinese = [entry["zh"]] if len(entry["zh"]) > 1 else []
        forms = chinese if language == "zh" else [entry["en"], *entry.get("also", [])]
        other = entry["en"] if language == "zh" else entry["zh"]
        for form in forms:
            tips[form] = f"{entry[f'{language}_meaning']} ({other})"
    return tips


KEYS = {"en", "zh", "anchor", "where", "en_meaning", "zh_meaning"}  # each term has them
MORE_KEYS = {"also", "zh_also", "not", "tip"}


def glossary_fault(entry: dict, key: str, what: str) -> Fault:
    """A fault of a term, at the line of its key."""
    path = DOCS / "glossary.yml"
    text = path.read_text(encoding="utf-8")
    (root,) = yaml.compose_all(text)
    node = root.value[yaml.safe_load(text).index(entry)]
    at = {name.value: name for name, _ in node.value}.get(key, node)
    return Fault(path, at.start_mark.line + 1, what)


def glossary_faults() -> Iterator[Fault]:
    """Terms without a part, and those that lead to a page or an anchor that isn't there."""
    anchors: dict[Page, set[str | None]] = {}
    try:
        entries = glossary()
    except Fault as fault:
        yield fault
        return
    for entry in entries:
        term = entry["en"]
        for key in sorted(entry.keys() - KEYS - MORE_KEYS):
            known = ", ".join(sorted(MORE_KEYS))
            what = f"{term} has {key}, which means nothing here; there are also {known}"
            yield glossary_fault(entry, key, what)
        name, _, anchor = entry["where"].partition("#")
        for page in [Page(language, name) for language in LANGUAGES if name]:
            if page not in anchors:
                anchors[page] = {h.anchor for h in headings(page)} if page.path.exists() else set()
            if not page.path.exists() and page.twin.path.exists():
                continue  # told by twin_faults
            if not page.path.exists():
                yield glossary_fault(
                    entry,
                    "where",
                    f"{term} leads to {page.file}, which isn't there; correct where",
                )
            elif anchor not in anchors[page]:
                what = f"{term} leads to #{anchor}, which {page.file} doesn't have; correct where"
                yield glossary_fault(entry, "where", what)


def glossary_table(language: str) -> str:
    """The glossary page's table, one row a term, below the letters that lead into it."""
    heads = {
        "en": ("Term", "中文", "Meaning, and where it is treated"),
        "zh": ("术语", "English", "含义，以及在哪里讲"),
    }
    rows = [heads[language], ("---", "---", "---")]
    other = "zh" if language == "en" else "en"
    gap = " " if language == "en" else ""
    named = {entry["where"].partition("#")[0] for entry in glossary()}
    found = {name: page for name in named if (page := Page(language, name)).path.exists()}
    titles = {name: page.title for name, page in found.items()}
    letters: list[str] = []
    for entry in glossary():
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


def chinese_words() -> str:
    """The terms that the Chinese search keeps whole, as jieba reads them."""
    words = sorted(entry["zh"] for entry in glossary() if len(entry["zh"]) > 1)
    return "".join(f"{word}\n" for word in words)
