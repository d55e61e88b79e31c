"""The MkDocs hooks: each calls something that is tested elsewhere."""

import logging
import os
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import urljoin

from jinja2 import FileSystemBytecodeCache, TemplateSyntaxError
from material.plugins.search.plugin import SearchIndex
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, PluginError
from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

import book
import claims
import feed
import formulas
import generate
import labs
import machine
import offline
import policy
import quizzes
import reading
import sources
import twins
import unchanged
from markup import Book, coloured, unindented, with_breaks, with_heights, with_room, words

log = logging.getLogger("mkdocs.hooks.book")
MARKUP = Book()
SERVING = False  # mkdocs serve, not mkdocs build
REPLACING = False  # mkdocs build, the whole of it
SITE: machine.Site | None = None  # what a build fills
RENDERED: dict[tuple[str, bool], str] = {}  # formulas, as scripts/formulas.py has them
WHOLE: dict[str, str] = {}  # a page's HTML while the search reads less of it
NAV: list[Navigation] = []  # the pages being built, in their order


class LinkLines(logging.Filter):
    """Puts file and line before what MkDocs says of a link that leads nowhere."""

    LINK = re.compile(r"Doc file '([^']+)' contains an? .*?link '([^']+)'")

    def __init__(self, language: str):
        super().__init__()
        self.language = language

    def filter(self, record: logging.LogRecord) -> bool:
        told = record.getMessage().strip()
        match = self.LINK.match(told)
        if match:
            told = f"{told.rstrip('.')}; correct the link, or write what it leads to"
            page = book.Page(self.language, match[1])
            link = f"]({match[2]}"
            if link in page.text:
                fault = page.fault(page.text.index(link), told)
            else:  # in its quiz?
                fault = next(quizzes.faults(link, told), page.fault(0, told))
            record.msg, record.args = str(fault), ()
        return True


class NavLines(logging.Filter):
    """The same for what MkDocs says of the nav."""

    MISSING = re.compile(r"A reference to '([^']+)' is included in the 'nav'")
    OMITTED = re.compile(r"^  - (\S+)$", re.M)

    def __init__(self, config: MkDocsConfig):
        super().__init__()
        self.path, self.docs = Path(config.config_file_path), Path(config.docs_dir)

    def filter(self, record: logging.LogRecord) -> bool:
        told = record.getMessage()
        text, faults = self.path.read_text(encoding="utf-8"), []
        for name in self.MISSING.findall(told):
            what = f"the nav leads to {name}, which isn't there; correct the name, or write it"
            faults.append(book.Fault(self.path, book.line_of(text, text.find(name)), what))
        if "not included in the" in told:
            for name in self.OMITTED.findall(told):
                what = f"no nav leads here; list {name} in {self.path.name}"
                faults.append(book.Fault(self.docs / name, 1, what))
        if faults:
            record.msg, record.args = "\n".join(map(str, faults)), ()
        return True


def on_startup(command: str, dirty: bool) -> None:
    global SERVING, REPLACING
    SERVING = command == "serve"
    REPLACING = command == "build" and not dirty


def on_shutdown() -> None:
    if SITE:
        try:
            SITE.end()
        except OSError as error:
            what = machine.told(error) or f"{SITE.folder} can't be replaced ({error.strerror})"
            raise PluginError(what) from None


def on_build_error(error: Exception) -> None:
    """Whatever stops a build is told in a line, and the old site stays."""
    if SITE:
        SITE.whole = False
    what = machine.told(error)
    if isinstance(error, book.Fault | book.Trouble):
        what = str(error)
    elif isinstance(error, TemplateSyntaxError) and error.filename:
        what = f"{error.message}; correct the template, or git restore it"
        what = str(book.Fault(Path(error.filename), error.lineno, what))
    if what:
        log.error(what)
        raise Abort("Aborted with a fault!") from None


def language(config: MkDocsConfig) -> str:
    return config.theme["language"]


def source_of(page: Page, config: MkDocsConfig) -> book.Page:
    return book.Page(language(config), page.file.src_uri)


@event_priority(100)  # before the search plugin reads its list of words
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    global SITE
    if SERVING:
        machine.free(*config.dev_addr)
    if language(config) == "en" and REPLACING:
        SITE = machine.Site(config.site_dir)
        config.site_dir = str(SITE.part)
    if language(config) == "en" and generate.stale():  # the Chinese build follows at once
        script = str(book.SCRIPTS / "generate.py")
        status = subprocess.run([sys.executable, script]).returncode
        if status < 0:
            how = "is there memory enough? Run it again: what was made is kept"
            raise PluginError(f"generate.py was killed by signal {-status}; {how}")
        if status:
            raise PluginError("generate.py failed; what and where stands above")
    config.markdown_extensions.append(MARKUP)  # type: ignore[arg-type]
    set_alternates(config, "")
    logging.getLogger("mkdocs.structure.pages").filters[:] = [LinkLines(language(config))]
    logging.getLogger("mkdocs.structure.nav").filters[:] = [NavLines(config)]
    return config


def on_pre_build(config: MkDocsConfig) -> None:
    """What is broken stops every build; what is forgotten, a strict one."""
    english = language(config) == "en"
    languages = book.LANGUAGES if english else (language(config),)
    broken = [*book.snippet_faults()]
    for page in (page for each in languages for page in book.pages(each)):
        broken += book.page_faults(page)
    broken += [*book.lab_faults(), *book.glossary_faults()]
    if english:
        broken += [*sources.faults(), *claims.faults(), *feed.faults()]
    if broken:
        raise PluginError("\n".join(dict.fromkeys(map(str, broken))))
    if english:  # once for both: the Chinese build follows the English one
        for fault in book.forgotten():
            log.warning(fault)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path in sorted(book.DOWNLOADS.rglob("*.*")):
        name = path.relative_to(book.GENERATED).as_posix()
        files.append(File.generated(config, name, abs_src_path=str(path)))
    for page in book.pages(language(config)):
        if page.is_lab:
            add_lab(page, files, config)
    for file in [file for file in files if any(fnmatch(file.src_uri, name) for name in UNUSED)]:
        files.remove(file)
    worker = files.get_file_from_path("offline.js")
    if worker and language(config) == "zh":  # one worker keeps both languages
        files.remove(worker)
    return files


def add_lab(page: book.Page, files: Files, config: MkDocsConfig) -> None:
    """A notebook as a page, and as a download that knows where this site lies."""
    notebook = page.path.name
    name = page.name.replace(".md", ".ipynb")
    there, here = labs.site_of(page.path), root_url(config)
    old = files.get_file_from_path(name)
    if old:
        files.remove(old)
    download = page.path.read_text(encoding="utf-8").replace(there, here)
    files.append(File.generated(config, name, content=download))
    text = labs.with_links(
        page.text.replace(there, here), notebook, page.language, config.repo_url or ""
    )
    made = File.generated(config, page.name, content=text)
    made.edit_uri = name  # type: ignore[read-only]
    files.append(made)


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    NAV[:] = [nav]
    return nav


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    MARKUP.page = source = source_of(page, config)
    markdown = with_keeping(book.with_values(markdown))
    needs = page.meta.get("needs")
    if needs is not None:
        markdown = reading.with_line(markdown, needs, source.language)
    if SERVING:
        unchanged.watch(page, source, markdown, config, files)
    return markdown


def with_keeping(markdown: str) -> str:
    """The page with the button that keeps the book, unless the book is just being written."""
    return markdown.replace(' data-widget="offline"', "") if SERVING else markdown


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    return reading.with_minutes(html)


def on_env(env, config: MkDocsConfig, files: Files):
    """All formulas of all pages at once, now that the HTML is there."""
    templates = book.GENERATED / "templates"  # compiled once for all builds
    templates.mkdir(exist_ok=True)
    env.bytecode_cache = FileSystemBytecodeCache(str(templates))
    pages = [file.page for file in files.documentation_pages() if file.page]
    wanted = {f for page in pages for f in formulas_of(page, config)}
    try:
        RENDERED.update(formulas.render(wanted))
    except ValueError as error:
        tex, reason = error.args
        raise PluginError("\n".join(map(str, formula_faults(config, tex, reason)))) from None
    css, fonts = formulas.style_sheet(RENDERED[each] for each in sorted(wanted))
    files.append(File.generated(config, "assets/formulas.css", content=css))
    for name, content in fonts.items():
        files.append(File.generated(config, f"assets/fonts/{name}", content=content))
    return env


def formulas_of(page: Page, config: MkDocsConfig) -> list[tuple[str, bool]]:
    content = page.content or ""
    return unchanged.once(source_of(page, config), "formulas", lambda: formulas.find(content))


def formula_faults(config: MkDocsConfig, tex: str, reason: str) -> list[book.Fault]:
    """The formula's places in the sources, by its first line."""
    first = tex.splitlines()[0]
    reason += "; katex.org/docs/supported.html lists what there is"
    found = [
        page.fault(page.text.find(first), reason)
        for page in book.pages(language(config))
        if first in page.text
    ]
    return [*found, *quizzes.faults(first, reason)]


@event_priority(100)
def before_search(context, page: Page, config: MkDocsConfig, nav):
    """The search parses the whole of a page; figures and formulas would keep it for seconds."""
    source, html = source_of(page, config), page.content or ""
    index = config.plugins["material/search"].search_index  # type: ignore[attr-defined]

    def entries() -> list[dict]:
        found = SearchIndex(**index.config)
        page.content = words(html)
        found.add_entry_from_context(page)
        return found.entries

    index.entries += unchanged.once(source, "search", entries)
    WHOLE[page.file.src_uri] = html
    page.content = ""  # there is nothing left for the plugin to read
    return context


@event_priority(-100)
def after_search(context, page: Page, config: MkDocsConfig, nav):
    set_alternates(config, page.url)
    html = WHOLE.pop(page.file.src_uri)

    def finished() -> str:
        whole = formulas.replace(html, RENDERED)
        return with_room(with_heights(with_breaks(coloured(whole))))

    page.content = unchanged.once(source_of(page, config), "html", finished)
    return context


on_page_context = CombinedEvent(before_search, after_search)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    return unindented(output)


def root_url(config: MkDocsConfig) -> str:
    """Where the site lies, whichever language is being built."""
    root = config.site_url or "/"
    return urljoin(root, "..") if language(config) == "zh" else root


def set_alternates(config: MkDocsConfig, url: str) -> None:
    """The page in both languages: relative for the switch, absolute for search engines."""
    root = root_url(config)
    up = "../" if language(config) == "zh" else ""
    config.extra["alternate"] = [
        {
            "name": "English",
            "lang": "en",
            "link": up + url or "./",
            "absolute": root + url,
        },
        {
            "name": "中文",
            "lang": "zh",
            "link": url or "./" if up else f"zh/{url}",
            "absolute": f"{root}zh/{url}",
        },
    ]


# What is to be otherwise in Material's scripts: where, what stands there, what instead, and why.
MENDS = (
    # A Chinese query is cut into words of the index, and its last character never tried:
    # 多头注意力 is one word, not 多头 and 注意.
    (
        "workers/search.*.min.js",
        "for(let o=s+1;o<t.length;o++)t.slice(s,o)in e",
        "for(let o=s+1;o<=t.length;o++)t.slice(s,o)in e",
    ),
    # The index, a megabyte, is fetched when the search is opened, not with each first page …
    ("bundle.*.min.js", '$(location.protocol!=="file:"),Je("search")', 'Je("search")'),
    # … nor to mark words in a page, unless its address names some …
    (
        "bundle.*.min.js",
        'z([t,r.pipe(Q(we()),g(o=>!!o.searchParams.get("h")))])',
        'r.pipe(Q(we()),g(o=>!!o.searchParams.get("h")),b(o=>t.pipe(m(n=>[n,o]))))',
    ),
    # … and what searches it is fetched when it first has something to do; its address is
    # relative to the page that came first.
    (
        "bundle.*.min.js",
        "t=new Worker(e)",
        "a=new URL(e,we()),t=Object.assign(new EventTarget,{postMessage(s){let o=new Worker(a);"
        'o.onmessage=({data:n})=>t.dispatchEvent(new MessageEvent("message",{data:n})),'
        "(t.postMessage=n=>o.postMessage(n))(s)}})",
    ),
    # A browser's tools would ask for the maps, which aren't published.
    ("bundle.*.min.js", "//# sourceMappingURL=", "// Not published: "),
    ("workers/search.*.min.js", "//# sourceMappingURL=", "// Not published: "),
)
UNUSED = ("*.map", "assets/javascripts/lunr/*")  # for languages that the search cuts otherwise


def mend_theme(config: MkDocsConfig) -> None:
    for name, there, instead in MENDS:
        (script,) = Path(config.site_dir, "assets/javascripts").glob(name)
        text = script.read_text(encoding="utf-8")
        if text.count(there) != 1:
            raise PluginError(f"{script.name} is not the one that MENDS knows: no {there}")
        script.write_text(text.replace(there, instead), encoding="utf-8")


def on_post_build(config: MkDocsConfig) -> None:
    """After the English site, the Chinese one, into its folder zh/."""
    global SITE
    mend_theme(config)
    other = "llms.txt" if language(config) == "zh" else "zh/llms.txt"
    twins.write(NAV[0], config, language(config), root_url(config) + other)
    news = feed.rss(
        language(config), config.site_url or "/", config.site_name, config.site_description or ""
    )
    book.write(Path(config.site_dir, "feed.xml"), news)
    if language(config) == "zh":
        return
    chinese = load_config(
        str(book.ROOT / "mkdocs.zh.yml"),
        site_dir=os.path.join(config.site_dir, "zh"),
        site_url=urljoin(config.site_url or "/", "zh/"),
        strict=config.strict,
    )
    site, SITE = SITE, None  # the hooks of both are one module, and the site is not yet at its end
    try:
        chinese.plugins.on_startup(command="serve" if SERVING else "build", dirty=False)
        build(chinese)
        chinese.plugins.on_shutdown()
    finally:
        SITE = site
    if not SERVING:  # the server puts a script of its own into each page
        policy.protect(Path(config.site_dir), comments="giscus" in config.extra)
        offline.write(Path(config.site_dir))  # last: it tells the bytes of all the others
    if SITE:
        SITE.whole = True
