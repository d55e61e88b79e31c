"""Each page has a Markdown copy with all of its content, and llms.txt lists the copies."""

import re
import textwrap
from html import unescape
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from pymdownx.snippets import SnippetMissingError

import page_parts
import sample_book
from bookbuild.pages.page import CODE_FENCE, FRONT_MATTER, INLINE_CODE, blank_fences
from bookbuild.publish.markdown_copies import PageCopy
from built_pages import BuiltPage, assert_no_errors, page_code_blocks

HEADING = re.compile(r"^ *(#{1,6}) +[^\n]*?(?:\{ *#([\w-]+)[^}\n]*\})? *$", re.M)
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE_OPENING = re.compile(r'^`{3,} *(?:\{ *\.)?(\w*)(?:.*?title="([^"]*)")?.*$')


class MarkdownCopy(NamedTuple):
    """A built page and its copy."""

    page: BuiltPage
    text: str

    @property
    def prose(self) -> str:
        """The text with code removed."""
        return INLINE_CODE.sub("", blank_fences(self.text))


@pytest.fixture(scope="module")
def copies(built_pages) -> list[MarkdownCopy]:
    return [
        MarkdownCopy(page, page.path.with_name("index.md").read_text(encoding="utf-8"))
        for page in built_pages
    ]


def test_every_page_links_to_its_copy_and_the_copy_to_its_page(copies):
    errors = []
    for page, text in copies:
        links = {
            link.attributes.get("type"): link.attributes["href"]
            for link in page.tree.find("link")
            if "alternate" in link.attributes["rel"].split()
        }
        canonical = next(
            link.attributes["href"]
            for link in page.tree.find("link")
            if link.attributes["rel"] == "canonical"
        )
        front_matter = yaml.safe_load(FRONT_MATTER.match(text)[1])
        if links.get("text/markdown") != f"{canonical}index.md":
            errors.append(f"{page} links to {links.get('text/markdown')}")
        if (
            front_matter["canonical"] != canonical
            or front_matter["language"] != page.source.language
        ):
            errors.append(f"{page}: the front matter of its copy is {front_matter}")
        if (
            front_matter["description"] != page.source.meta["description"]
            or not front_matter["title"]
        ):
            errors.append(f"{page}: the front matter of its copy is {front_matter}")
    assert_no_errors(errors)


def test_headings_and_anchors_are_those_of_the_page(copies):
    for copy in copies:
        expected = [
            (each.tag, each.attributes.get("id") if each.tag != "h1" else None)
            for each in copy.page.article.find()
            if re.fullmatch("h[1-6]", each.tag)
        ]
        matches = [(f"h{len(level)}", anchor) for level, anchor in HEADING.findall(copy.prose)]
        assert [(tag, anchor or None) for tag, anchor in matches] == expected, copy.page


def fenced_blocks(text: str) -> list[tuple[str, str, str]]:
    """The title, language and code of each fenced block."""
    blocks = []
    for fence in CODE_FENCE.finditer(text):
        opening, *lines = textwrap.dedent(fence[0]).split("\n")
        language, title = FENCE_OPENING.match(opening).groups()
        code = "\n".join(lines[:-1]).strip("\n").rstrip()
        blocks.append((page_parts.ENGLISH_BLOCK_TITLES.get(title, title or ""), language, code))
    return blocks


def test_code_and_outputs_are_those_of_the_page(copies):
    for page, text in copies:
        expected = [
            (block.title, block.language, block.code.strip("\n").rstrip())
            for block in page_code_blocks(page)
        ]
        assert fenced_blocks(text) == expected, page


def letters_and_digits(text: str) -> str:
    """The letters and digits of a text."""
    return re.sub(r"[\W_]", "", text)


MARKUP = re.compile(  # link targets, attribute lists, footnote references, HTML tags
    r"\]\([^)\s]+\)|\{:? *[.#:][^}\n]*\}|\[\^[^\]]+\]|</?(?:a|b|br|caption|code|details|div|li|"
    r"ol|p|small|span|su[bp]|summary|table|t[dhr]|tbody|thead|ul)\b[^>]*>"
)
TEXT_TAGS = {"p", "li", "td", "th", "summary", "figcaption", *(f"h{n}" for n in range(1, 7))}
SKIPPED_TAGS = {"svg", "math", "pre", "ul", "ol", "table"}


def leaf_texts(page: BuiltPage) -> list[str]:
    """The text of each paragraph, item, cell and heading without a formula or a figure."""
    found = []
    for each in page.article.find():
        if "files" in each.classes or each.tag not in TEXT_TAGS:
            continue
        inside = each.find()[1:]
        if {child.tag for child in inside} & (TEXT_TAGS | SKIPPED_TAGS):
            continue
        links = [child.text() for child in inside if "headerlink" in child.classes]
        footnotes = {"sup"} if each.find("a", "footnote-ref") else set()
        text = each.text(frozenset(footnotes))
        found.append(text.removesuffix(links[0]) if links else text)
    return found


def test_no_text_of_a_page_is_missing(copies):
    errors = []
    for page, text in copies:
        kept = letters_and_digits(unescape(MARKUP.sub("", text)))
        leaves = leaf_texts(page)
        assert len(leaves) > 5, page
        errors += [
            f"{page}: its copy lacks: {leaf}"
            for leaf in leaves
            if letters_and_digits(leaf) not in kept
        ]
    assert_no_errors(errors)


def test_figures_are_described_by_their_alternative_text(copies):
    errors = []
    for page, text in copies:
        for holder in page.article.find("span", "figure"):
            (svg,) = holder.find("svg")
            if svg.attributes["aria-label"] not in text:
                errors.append(f"{page}: its copy lacks: {svg.attributes['aria-label']}")
    assert_no_errors(errors)


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        (r"--8<--", "an include"),
        (r"\{\{ ", "a value that is not filled in"),
        (r"MINUTES", "the reading time is not filled in"),
        (r"\\(?:query|key|val)\b", "a macro of the site"),
        (r"\]\(figures/", "a figure without an address"),
    ],
)
def test_no_unexpanded_markup_is_left(copies, pattern, what):
    assert_no_errors(
        f"{copy.page}: {what}: {match[0].strip()}"
        for copy in copies
        for match in re.finditer(f".{{0,30}}(?:{pattern}).{{0,30}}", copy.prose)
    )


def test_no_include_is_left_in_code(copies):
    pattern = re.compile(r'^ *--8<-- "', re.M)
    assert_no_errors(page for page, text in copies if pattern.search(text))


def dead_links(links: list[str], site: Path, site_url: str, text: str = "") -> list[str]:
    """The links without a target; text is the page they are on."""
    errors = []
    for link in links:
        if not link.startswith((site_url, "#")):
            if "://" not in link:
                errors.append(f"{link} is no address")
            continue
        path, _, anchor = re.sub(r"\?[^#]*", "", link).removeprefix(site_url).partition("#")
        file = site / path / "index.html" if path.endswith("/") or not path else site / path
        target = text
        if not link.startswith("#"):
            if not file.is_file():
                errors.append(f"no file has the address {link}")
                continue
            target = file.read_text(encoding="utf-8") if anchor else ""
        pattern = rf'\#{re.escape(anchor)}[ }}]|id="{re.escape(anchor)}"'
        if anchor.startswith("fn:"):
            pattern = re.escape(f"[^{anchor[3:]}]:")
        if anchor and not re.search(pattern, target):
            errors.append(f"no anchor for {link}")
    return errors


def test_links_have_targets(copies, site, site_url):
    errors = []
    for copy in copies:
        links = LINK.findall(copy.prose)
        assert links, copy.page
        errors += [f"{copy.page}: {each}" for each in dead_links(links, site, site_url, copy.text)]
    assert_no_errors(errors)


def test_a_dead_link_is_found(site, site_url):
    links = [f"{site_url}none/", f"{site_url}masks/index.md#none", "masks.md", "#none"]
    assert len(dead_links(links, site, site_url)) == 4
    links = ["#here", f"{site_url}mask-conventions/#others"]
    assert dead_links(links, site, site_url, "## Here { #here }") == []


def test_llms_txt_lists_every_page_of_its_language(copies, site, site_url):
    for language, folder in (("en", ""), ("zh", "zh/")):
        text = (site / f"{folder}llms.txt").read_text(encoding="utf-8")
        assert re.match(r"# .+\n\n> .+\n\n.+\n\n## ", text)
        assert "\n\n\n" not in text and not re.search(r"## .+\n+(?:## |$)", text)
        listed = dict(re.findall(r"^- \[.+?\]\((\S+?)\): (.+)$", text, re.M))
        assert len(listed) == len(re.findall("^- ", text, re.M))
        assert listed == {
            f"{site_url}{page.url}index.md": page.source.meta["description"]
            for page, _ in copies
            if page.source.language == language
        }
        assert dead_links(LINK.findall(text), site, site_url) == []


# Single features of a page


def markdown_copy(markdown: str) -> str:
    page = PageCopy("en", "labs/page.md", "Title", "About.", "https://book.example/", markdown)
    return page.text().partition("\n---\n\n")[2].rstrip("\n")


@pytest.mark.parametrize("indent", ["", "    "])
def test_code_with_fences_and_links_in_it_is_unchanged(indent):
    code = 'text = """\n```python\n{{ x/y: z }}\n````\n"""\n\n\nx = "$a$ **b** [c](d.md)"  \n'
    page = textwrap.indent(f'`````python title="Input"\n{code}`````', indent)
    page = f'??? note "Why"\n\n{page}' if indent else page
    assert markdown_copy(page) == page


def test_an_include_in_a_folded_block_is_indented(sample_folder):
    page = '??? note "Why"\n\n    ```python\n    --8<-- "tiny.py:first"\n    ```'
    code = "    def double(x):\n        return 2 * x\n"
    assert sample_book.expand(page) == page.replace('    --8<-- "tiny.py:first"\n', code)


def test_an_include_of_a_missing_file_is_an_error(sample_folder):
    with pytest.raises(SnippetMissingError, match=r"nonesuch\.py"):
        sample_book.expand('--8<-- "nonesuch.py"')


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (
            "[Go](other.md#a){ .button }",
            "[Go](https://book.example/labs/other/index.md#a){ .button }",
        ),
        ("[Home](../index.md)", "[Home](https://book.example/index.md)"),
        ("[A](#a), [b](https://x.example/y.md)", "[A](#a), [b](https://x.example/y.md)"),
        ("[File](page.ipynb)", "[File](https://book.example/labs/page.ipynb)"),
        ("`[a](b.md)` [`c`](c.md)", "`[a](b.md)` [`c`](https://book.example/labs/c/index.md)"),
        ("![All.](figures/a/b.svg)", "[Figure: All.](https://book.example/labs/page/)"),
        (r"$\query{Q}^\top$", r"$Q^\top$".replace("Q", "{Q}")),
    ],
)
def test_links_figures_and_formulas_work_outside_the_site(page, expected):
    assert markdown_copy(page) == expected
