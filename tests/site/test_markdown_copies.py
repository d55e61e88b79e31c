"""Each page has a Markdown copy with all of its content, and llms.txt lists the copies."""

import re
import textwrap
from html import unescape
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

import page_parts
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
    for page, text in copies:
        links = [link.attributes for link in page.tree.find("link")]
        (copy,) = (each["href"] for each in links if each.get("type") == "text/markdown")
        (canonical,) = (each["href"] for each in links if each["rel"] == "canonical")
        assert copy == f"{canonical}index.md"
        front_matter = yaml.safe_load(FRONT_MATTER.match(text)[1])
        assert front_matter.pop("title")
        assert front_matter.items() >= {
            ("canonical", canonical),
            ("language", page.source.language),
            ("description", page.source.meta["description"]),
        }


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
        missing = [leaf for leaf in leaves if letters_and_digits(leaf) not in kept]
        figures = [svg for each in page.article.find("span", "figure") for svg in each.find("svg")]
        labels = [svg.attributes["aria-label"] for svg in figures]
        missing += [label for label in labels if label not in text]
        errors += [f"{page}: its copy lacks: {each}" for each in missing]
    assert_no_errors(errors)


def test_no_unexpanded_markup_is_left(copies):
    """An include, a value, the reading time, a macro of the site, a figure without an address."""
    pattern = r".{0,30}(?:--8<--|\{\{ |MINUTES|\\(?:query|key|val)\b|\]\(figures/).{0,30}"
    found = [(copy, match[0]) for copy in copies for match in re.finditer(pattern, copy.prose)]
    assert_no_errors(f"{copy.page}: {piece}" for copy, piece in found)


def dead_links(text: str, site: Path, site_url: str) -> list[str]:
    """The links of a text to addresses of the site without a file, or to anchors it lacks."""
    links = LINK.findall(text)
    own = [link.removeprefix(site_url) for link in links if link.startswith(site_url)]
    files = [re.sub(r"[?#].*", "", link) for link in own]
    missing = [f"no file {file}" for file in files if not (site / file).exists()]
    missing += [f"{link} is no address" for link in links if not re.match(r"#|\w+://", link)]
    ids = {first or second for first, second in re.findall(r'#([\w-]+)[ }]|id="([\w-]+)"', text)}
    anchors = {link[1:] for link in links if link.startswith("#") and not link.startswith("#fn:")}
    return missing + [f"no anchor {anchor}" for anchor in anchors - ids]


def test_links_have_targets(copies, site, site_url):
    assert_no_errors(
        f"{copy.page}: {each}" for copy in copies for each in dead_links(copy.prose, site, site_url)
    )


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
        assert dead_links(text, site, site_url) == []


# Single features of a page


def markdown_copy(markdown: str) -> str:
    page = PageCopy("en", "labs/page.md", "Title", "About.", "https://book.example/", markdown)
    return page.text().partition("\n---\n\n")[2].rstrip("\n")


def test_code_with_fences_and_links_in_it_is_unchanged():
    code = 'text = """\n```python\n{{ x/y: z }}\n````\n"""\n\n\nx = "$a$ **b** [c](d.md)"  \n'
    block = f'`````python title="Input"\n{code}`````'
    for page in (block, f'??? note "Why"\n\n{textwrap.indent(block, "    ")}'):
        assert markdown_copy(page) == page


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
