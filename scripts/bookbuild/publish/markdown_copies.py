"""The Markdown twin of each page, for whoever reads without a browser, and the list llms.txt.

A twin is made from the same text as its page, and has only what any reader of Markdown knows:
what MkDocs and its extensions add to that is told in plain form.
"""

import posixpath
import re
from html import unescape
from pathlib import Path

import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

from bookbuild.check import translation
from bookbuild.check.includes import include_folders
from bookbuild.mkdocs_site import render_cache
from bookbuild.mkdocs_site.markdown_extension import ChineseLines
from bookbuild.pages.files import write_file
from bookbuild.pages.page import FENCE, FIGURE, INCLUDE, SourcePage, page_url
from bookbuild.pages.sections import read_sections, without_section_markers

WORDS = {
    "en": {
        "figure": "**[Figure]({page}).** ",
        "caption": "**Caption.** ",
        "chapters": "Chapters",
        "reference": "Reference",
        "about": (
            "The model is one file, [transformer.py]({site}downloads/transformer.py), and the "
            "chapters are that file in its own order. Each link below leads to a page as "
            "Markdown, with its code, outputs and formulas. [The book in Chinese]({other})."
        ),
    },
    "zh": {
        "figure": "**[图]({page})。** ",
        "caption": "**图注。** ",
        "chapters": "各章",
        "reference": "查阅",
        "about": (
            "模型就是一个文件：[transformer.py]({site}downloads/transformer.py)，"
            "各章按这个文件自己的顺序往下读。下面每个链接是一页的 Markdown，"
            "代码、输出和公式都在里面。[这本书的英文版]({other})。"
        ),
    },
}
OPENING = re.compile(r"^ *(?:`{3,}|~{3,}) *(?:\{ *\.)?(\w*)(.*)")
TITLE = re.compile(r'title="([^"]*)"')
FOLD = re.compile(r'^( *)(?:!!!|\?\?\?\+?) +[\w -]+"(.*)"$')
CHOICE = re.compile(r"<details[^>]*>\n<summary[^>]*>(.*?)</summary>\n\n(.*?)\n\n</details>\n", re.S)
TABLE = re.compile(r"<table.*?</table>", re.S)
CELL = re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>", re.S)
HEADING = re.compile(r"^(#+ .*?) *\{ *#([\w-]+) *\} *$", re.M)
CAPTION = re.compile(r"^( *)/// caption\n *(.*?)\n *///$", re.M | re.S)
LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
TOUCHING = re.compile(r"(?<!\*)(\*\*[^*\n]+\*\*)(?=\*\w)")
EMPHASIS = re.compile(r"(.?)(?<!\*)(\*\*?)(?=[^\s*])((?:[^*\n]|\n(?!\n))+?)(?<!\s)\2(?!\*)(?=(.?))")
ATTRIBUTES = re.compile(r" *\{:? *[.#:][^}\n]*\}")
COLOURS = re.compile(r"\\(?:query|key|val)\b")
NEXT = re.compile(r"\n +")
MARK = re.compile("\x02(\\d+)\x03")
READING = re.compile(r'<p class="reading"[^>]*>\D*(\d+)')


class Keep:
    """What no later step may touch, in places that are marked in the text."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    def __call__(self, piece: str) -> str:
        self.pieces.append(piece)
        return f"\x02{len(self.pieces) - 1}\x03"

    def restored(self, text: str) -> str:
        """With everything back; each line of a piece behind what its first line stands behind."""
        lines = []
        for line in text.split("\n"):
            before = re.match("[ >]*", line)[0]  # type: ignore[index]
            while MARK.search(line):
                line = MARK.sub(lambda match: self.pieces[int(match[1])], line)
            first, *rest = line.split("\n")
            lines += [first, *((before + each if each else before.rstrip()) for each in rest)]
        return "\n".join(lines)


def plain(markdown: str, language: str, name: str, root: str) -> str:
    """A page's Markdown as any reader of Markdown has it.

    name is the page's, as labs/look-inside.md; root is the address of its language.
    """
    keep = Keep()
    text = without_code(markdown, language, keep)
    text = translation.CODE.sub(lambda match: keep(NEXT.sub("\n", match[0])), text)
    for formula in (translation.DISPLAY, translation.INLINE):
        text = formula.sub(lambda match: keep(COLOURS.sub("", NEXT.sub("\n", match[0]))), text)
    if language == "zh":
        text = ChineseLines.BREAK.sub("", text)
    text = CHOICE.sub(choice, TABLE.sub(lambda match: table(match[0]), text))
    text = re.sub(r'<span id="([^"]+)"></span>', r'<a id="\1"></a>', text)
    text = re.sub(r"</?(?:div|span)\b[^>]*>", "", text)
    text = with_figures(text, WORDS[language], root + page_url(name))
    text = HEADING.sub(r'<a id="\2"></a>\n\n\1', text)
    text = ATTRIBUTES.sub("", text)
    text = re.sub(r"\^([^\s^\]]+)\^", r"<sup>\1</sup>", text)
    text = re.sub(r"(?<!~)~([^\s~]+)~(?!~)", r"<sub>\1</sub>", text)
    text = EMPHASIS.sub(spaced, TOUCHING.sub(r"\1 ", text))
    text = LINK.sub(lambda match: address(match[1], name, root), text)
    text = re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+$", "", quoted(text), flags=re.M))
    return f"{keep.restored(text).strip()}\n"


def without_code(text: str, language: str, keep: Keep) -> str:
    """The text with what it includes; blocks of code are kept, each below its title."""

    def included(match: re.Match[str]) -> str:
        return indented(without_code(content(match, language), language, keep), match[0])

    def block(match: re.Match[str]) -> str:
        opening, *lines = match[0].split("\n")
        code = INCLUDE.sub(
            lambda each: indented(content(each, language), each[0]), "\n".join(lines[:-1])
        )
        indent = len(match[1])
        code = "\n".join(line[indent:] for line in code.split("\n"))
        fence = max(["```", *(f"{run}`" for run in re.findall("`{3,}", code))], key=len)
        name, rest = OPENING.match(opening).groups()  # type: ignore[union-attr]
        title = TITLE.search(rest)
        head = f"{match[1]}**{title[1]}**\n\n" if title else ""
        return head + match[1] + keep(f"{fence}{name}\n{code}\n{fence}")

    ends, parts = 0, []
    for match in FENCE.finditer(text):
        parts += [INCLUDE.sub(included, text[ends : match.start()]), block(match)]
        ends = match.end()
    return "".join([*parts, INCLUDE.sub(included, text[ends:])])


def content(include: re.Match[str], language: str) -> str:
    """What an include stands for."""
    file, section = include.groups()
    path = next(path for base in include_folders(language) if (path := base / file).is_file())
    if section:
        return read_sections(path)[section].rstrip("\n")
    return without_section_markers(path).rstrip("\n")


def indented(text: str, line: str) -> str:
    """The text as far to the right as the line that it replaces."""
    indent = line[: len(line) - len(line.lstrip())]
    return "\n".join(indent + each if each else each for each in text.split("\n"))


def choice(match: re.Match[str]) -> str:
    """A choice of a quiz, as a point of a list."""
    why = match[2].replace("\n", "\n  ")
    return f"- {match[1]}\n\n  {why}\n"


def table(html: str) -> str:
    """A table of HTML as one of Markdown; a heading across all columns becomes a row in bold."""
    caption = re.search("<caption>(.*?)</caption>", html)
    rows = [CELL.findall(row) for row in re.findall("<tr.*?</tr>", html, re.S)]
    width = max(map(len, rows))
    lines = [f"**{unescape(caption[1])}**\n"] if caption else []
    for number, cells in enumerate(rows):
        told = [cell(each) for each in cells]
        if len(told) < width:
            told = [f"**{told[0]}**", *told[1:], *[""] * (width - len(told))]
        lines.append(f"| {' | '.join(told)} |")
        if not number:
            lines.append(f"|{' --- |' * width}")
    return "\n" + "\n".join(lines) + "\n\n"


def cell(html: str) -> str:
    code = re.sub("<code[^>]*>(.*?)</code>", lambda match: f"`{unescape(match[1])}`", html)
    return code.replace("|", r"\|")


def spaced(match: re.Match[str]) -> str:
    """Emphasis that CommonMark sees: between a letter and a mark of punctuation it wants a space,
    which Chinese doesn't have."""
    before, stars, inner, after = match.groups()
    first = " " if before.isalnum() and not inner[0].isalnum() else ""
    last = " " if after.isalnum() and not inner[-1].isalnum() else ""
    return f"{before}{first}{stars}{inner}{stars}{last}"


def with_figures(text: str, words: dict[str, str], page: str) -> str:
    """What figures show in words; they are drawn on the page alone, below the heading linked."""

    def told(match: re.Match[str]) -> str:
        above = [heading[2] for heading in HEADING.finditer(text, 0, match.start())]
        place = f"{page}#{above[-1]}" if above else page
        return words["figure"].format(page=place) + match[1].replace("<", r"\<")

    return CAPTION.sub(rf"\1{words['caption']}\2", FIGURE.sub(told, text))


def address(target: str, name: str, root: str) -> str:
    """Where a link of the page leads, from anywhere: to another twin, if it leads to a page."""
    path, mark, anchor = target.partition("#")
    if not path or "://" in path:
        return target
    path = posixpath.normpath(posixpath.join(posixpath.dirname(name), path))
    if path.endswith(".md"):
        path = copy_path(path)
    if anchor.startswith("fn:"):  # footnotes have no anchors here
        mark = anchor = ""
    return f"{root}{path}{mark}{anchor}"


def copy_path(name: str) -> str:
    """Where its twin lies: attention/index.md, beside attention/index.html."""
    return f"{page_url(name)}index.md"


def quoted(text: str) -> str:
    """What is folded on the page, open and set off, below its title."""
    found: list[str] = []
    lines = text.split("\n")
    while lines:
        line = lines.pop(0)
        fold = FOLD.match(line)
        if not fold:
            found.append(line)
            continue
        inside: list[str] = []
        indent = f"{fold[1]}    "
        while lines and (not lines[0].strip() or lines[0].startswith(indent)):
            inside.append(lines.pop(0).removeprefix(indent))
        body = quoted("\n".join(inside)).strip("\n")
        told = [f"**{fold[2]}**", "", *body.split("\n")]
        found += [f"{fold[1]}> {line}".rstrip() for line in told] + [""]
    return "\n".join(found)


def write_copies(nav: Navigation, config: MkDocsConfig, language: str, other: str) -> None:
    """A twin beside each page of a built site, and the list of them; other is the other list."""
    for page in nav.pages:
        path = Path(config.site_dir, copy_path(page.file.src_uri))
        write_file(path, markdown_copy(page, config, language))
    write_file(Path(config.site_dir, "llms.txt"), index(nav, config, language, other))


def markdown_copy(page: Page, config: MkDocsConfig, language: str) -> str:
    """The file: what the page is, then its text."""
    head = {
        "title": config.site_name if page.is_homepage else str(page.title),
        "description": about(page, config),
        "language": language,
        "canonical": page.canonical_url,
    }
    minutes = READING.search(page.content or "")
    text = page.markdown or ""
    if minutes:
        text = text.replace("MINUTES", minutes[1], 1)
    told = yaml.safe_dump(head, allow_unicode=True, sort_keys=False, width=float("inf"))
    source, home = SourcePage(language, page.file.src_uri), config.site_url or "/"
    body = render_cache.cached_step(
        source, "twin", lambda: plain(text, language, source.name, home)
    )
    return f"---\n{told}---\n\n{body}"


def about(page: Page, config: MkDocsConfig) -> str:
    return page.meta.get("description") or config.site_description or ""


def index(nav: Navigation, config: MkDocsConfig, language: str, other: str) -> str:
    """llms.txt, as https://llmstxt.org describes it."""
    words, root = WORDS[language], config.site_url or "/"
    first = words["about"].format(site=root, other=other)
    parts = [f"# {config.site_name}\n\n> {config.site_description}\n\n{first}\n"]
    named: list[tuple[str, list[Page]]] = [(words["chapters"], [])]
    for item in nav.items:
        if isinstance(item, Page):
            named[-1][1].append(item)
        elif item.children:  # what stands behind the labs is no chapter
            named += [(item.title, item.children), (words["reference"], [])]
    for title, pages in named:
        entries = [
            f"- [{page.title}]({root}{copy_path(page.file.src_uri)}): {about(page, config)}\n"
            for page in pages
        ]
        parts.append(f"\n## {title}\n\n{''.join(entries)}")
    return "".join(parts)
