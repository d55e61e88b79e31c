"""The Markdown twins hold what their pages hold, in a form that any reader of Markdown knows."""

import re
from collections import Counter
from html import escape
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

import html_tree
from bookbuild.check import translation
from bookbuild.publish import markdown_copies
from built_pages import Built, blocks_of, expect_none

READER = MarkdownIt("commonmark").enable("table")
READER.use(front_matter_plugin).use(footnote_plugin)
READER.use(dollarmath_plugin, renderer=lambda tex, _: f"<math>{escape(tex)}</math>")
NO_PROSE = frozenset({"pre", "code", "math"})
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
TAGS = {"a", "br", "small", "sub", "sup"}  # of HTML, which most readers show and none minds


class Twin(NamedTuple):
    """A page and its twin as a reader of Markdown understands it."""

    page: Built
    text: str
    tokens: list[Token]
    tree: html_tree.Element


@pytest.fixture(scope="module")
def read(built) -> list[Twin]:
    found = []
    for page in built:
        text = page.path.with_name("index.md").read_text(encoding="utf-8")
        tree = html_tree.parse(READER.render(text))
        found.append(Twin(page, text, READER.parse(text), tree))
    return found


def squeezed(text: str) -> str:
    """Without spaces and the ways back from footnotes, which each writes in its own manner."""
    return re.sub(r"[\s↩]", "", text)


def level(heading: str) -> bool:
    return re.fullmatch(r"h[1-6]", heading) is not None


def test_every_page_leads_to_its_twin_and_the_twin_to_its_page(built, read):
    faults = []
    for twin in read:
        links = {
            link.attributes.get("type"): link.attributes["href"]
            for link in twin.page.tree.find("link")
            if "alternate" in link.attributes["rel"].split()
        }
        canonical = next(
            link.attributes["href"]
            for link in twin.page.tree.find("link")
            if link.attributes["rel"] == "canonical"
        )
        head = yaml.safe_load(twin.tokens[0].content)
        if links.get("text/markdown") != f"{canonical}index.md":
            faults.append(f"{twin.page} leads to {links.get('text/markdown')}")
        if head["canonical"] != canonical or head["language"] != twin.page.source.language:
            faults.append(f"{twin.page}: its twin says it is {head}")
        if head["description"] != twin.page.source.meta["description"] or not head["title"]:
            faults.append(f"{twin.page}: its twin says it is {head}")
    expect_none(faults)


def test_headings_and_their_anchors_are_those_of_the_page(read):
    for page, _, tokens, _ in read:
        headings = [each for each in page.article.find() if level(each.tag)]
        wanted = [(each.tag, each.attributes.get("id")) for each in headings]
        found = []
        for number, token in enumerate(tokens):
            if token.type == "heading_open":
                before = tokens[number - 2].content if number > 2 else ""
                anchor = ANCHOR.fullmatch(before)
                found.append((token.tag, anchor[1] if anchor else None))
        titles = [name for name in wanted if name[0] != "h1"]
        assert [name for name in found if name[0] != "h1"] == titles, page
        assert [tag for tag, _ in found].count("h1") == 1, page


def test_blocks_of_code_and_outputs_are_those_of_the_page_below_their_titles(read):
    for page, _, tokens, _ in read:
        wanted = [(block.title, block.language, block.code.rstrip()) for block in blocks_of(page)]
        found = []
        for number, token in enumerate(tokens):
            if token.type == "fence":
                told = re.fullmatch(r"\*\*(.+)\*\*", tokens[number - 2].content)
                title = translation.TITLES.get(told[1], told[1]) if told else ""
                found.append((title, token.info, token.content.rstrip()))
        assert found == wanted, page


NOT_COMPARED = frozenset({"sup"})  # the numbers of footnotes
APART = {"svg", "math", "pre", "ul", "ol", "table"}
LEAVES = {"p", "li", "td", "th", "summary", "figcaption", *(f"h{n}" for n in range(1, 7))}


def leaves(page: Built) -> list[str]:
    """All that a page says, but for what holds a formula, TeX in the twin and glyphs on the page,
    and for what lies apart: code, drawings, and where the files of the book are."""
    found = []
    for each in page.article.find():
        inside = each.find()[1:]
        if "files" in each.classes:
            continue
        if each.tag not in LEAVES or {child.tag for child in inside} & (LEAVES | APART):
            continue
        links = [child.text() for child in inside if "headerlink" in child.classes]
        text = each.text(NOT_COMPARED)
        found.append(text.removesuffix(links[0]) if links else text)
    return found


def test_nothing_that_a_page_says_is_missing(read):
    faults = []
    for page, _, _, tree in read:
        told = squeezed(tree.text(NOT_COMPARED))
        assert len(leaves(page)) > 5, page
        faults += [
            f"{page}: its twin lacks: {text}" for text in leaves(page) if squeezed(text) not in told
        ]
    expect_none(faults)


def test_figures_are_told_in_words(read):
    faults = []
    for page, _, _, tree in read:
        told = squeezed(tree.text())
        for holder in page.article.find("span", "figure"):
            (svg,) = holder.find("svg")
            if squeezed(svg.attributes["aria-label"]) not in told:
                faults.append(f"{page}: no word of: {svg.attributes['aria-label']}")
    expect_none(faults)


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        (r"--8<--", "an include that was not read"),
        (r"\*", "an asterisk: emphasis that did not take"),
        (r"\{\{|\}\}", "a value that was not filled in"),
        (r"\{ *[#.:][\w-]+", "an attribute list"),
        (r"\[\^[^\]]+\]", "a footnote without its text"),
        (r"^ *(!!!|\?\?\?|///|===)", "a block of MkDocs"),
        (r"!?\[[^\]]*\]\(", "a link that did not take"),
        (r"`", "a backtick"),
        (r"\$", "a formula that did not take"),
        (r"\\query|\\key|\\val|MINUTES", "what the build alone knows"),
        ("[\x02\x03]", "a mark of scripts/twins.py"),
    ],
)
def test_no_markup_shows_in_the_prose(read, pattern, what):
    faults = []
    for page, _, _, tree in read:
        for found in re.finditer(rf".{{0,30}}(?:{pattern}).{{0,30}}", tree.text(NO_PROSE), re.M):
            faults.append(f"{page}: {what}: …{found[0].strip()}…")
    expect_none(faults)


def test_no_include_and_no_mark_of_a_section_is_left(read):
    expect_none(f"{page}: --8<--" for page, text, _, _ in read if "--8<--" in text)


def test_formulas_use_no_macro_of_ours(read):
    expect_none(
        f"{page}: {macro[0]}"
        for page, text, _, _ in read
        for macro in re.finditer(r"\\(?:query|key|val)\b", text)
    )


def html(tokens: list[Token]) -> list[str]:
    inline = [child for token in tokens for child in token.children or []]
    return [token.content for token in [*tokens, *inline] if token.type.startswith("html_")]


def test_the_only_html_is_harmless(read):
    tags = Counter(
        (tag, str(page))
        for page, _, tokens, _ in read
        for piece in html(tokens)
        for tag in re.findall(r"</?(\w+)", piece)
    )
    expect_none(
        f"{page}: {count} times <{tag}>" for (tag, page), count in tags.items() if tag not in TAGS
    )


def structure(tokens: list[Token]) -> list[str]:
    """What both languages share."""
    shared = {"heading_open", "fence", "table_open", "tr_open", "blockquote_open", "math_block"}
    return [
        f"{token.type} {token.tag} {token.info}{token.content if token.type == 'fence' else ''}"
        for token in tokens
        if token.type in shared
    ]


def test_both_languages_are_built_alike(read):
    twin = {(each.page.source.language, each.page.source.name): each for each in read}
    for (language, name), one in twin.items():
        if language == "en":
            other = twin["zh", name]
            if one.page.source.is_pending or other.page.source.is_pending:
                continue
            ours, theirs = structure(one.tokens), structure(other.tokens)
            if one.page.source.is_notebook:  # the address of the site stands in its code
                theirs = [each.replace("/zh/", "/") for each in theirs]
            assert ours == theirs, name


def anchors(text: str) -> set[str]:
    return {*ANCHOR.findall(text)}


def dead(text: str, links: list[str], site: Path, root: str) -> list[str]:
    """Links that lead nowhere, or to where only a browser finds the way."""
    faults = []
    for link in links:
        if not link.startswith((root, "#")):
            if "://" not in link:
                faults.append(f"{link} is no address")
            continue
        path, _, anchor = link.removeprefix(root).partition("#")
        file = site / path / "index.html" if path.endswith("/") or not path else site / path
        if link.startswith("#"):
            target = text
        elif not file.is_file():
            faults.append(f"{link} leads nowhere")
            continue
        else:
            target = file.read_text(encoding="utf-8") if anchor else ""
        if anchor and f'id="{anchor}"' not in target:
            faults.append(f"{link} leads to no anchor")
    return faults


def test_links_lead_somewhere_from_anywhere(read, site, root):
    faults = []
    for page, text, _, tree in read:
        prose = [each for each in tree.find("a") if "footnote" not in str(each.classes)]
        links = [each.attributes["href"] for each in prose if "href" in each.attributes]
        links = [link for link in links if not link.startswith("#fn")]
        assert links, page
        faults += [f"{page}: {fault}" for fault in dead(text, links, site, root)]
    expect_none(faults)


def test_a_dead_link_is_seen(site, root):
    links = [f"{root}none/", f"{root}masks/index.md#none", "masks.md", "#none"]
    assert len(dead("", links, site, root)) == 4
    assert dead('<a id="here"></a>', ["#here", f"{root}masks/#others"], site, root) == []


def test_llms_txt_lists_every_page_of_its_language(read, site, root):
    for language, folder in (("en", ""), ("zh", "zh/")):
        text = (site / f"{folder}llms.txt").read_text(encoding="utf-8")
        assert re.match(r"# .+\n\n> .+\n\n.+\n\n## ", text)
        told = dict(re.findall(r"^- \[.+?\]\((\S+?)\): (.+)$", text, re.M))
        assert len(told) == len(re.findall("^- ", text, re.M))
        assert told == {
            f"{root}{page.url}index.md": page.source.meta["description"]
            for page, *_ in read
            if page.source.language == language
        }
        tree = html_tree.parse(READER.render(text))
        links = [each.attributes["href"] for each in tree.find("a")]
        assert dead(text, links, site, root) == []


# What a page may hold, in one language and another


def plain(markdown: str, language: str = "en") -> str:
    return markdown_copies.plain(markdown, language, "labs/page.md", "https://book.example/")


def test_code_that_has_fences_and_braces_in_it_stays_whole():
    code = 'text = """\n```python\n{{ x/y: z }}\n````\n"""\n\n\nx = "$a$ **b** [c](d.md)"  '
    for indent in ("", "    "):
        lines = "\n".join(indent + line if line else line for line in code.split("\n"))
        page = f'{indent}`````python title="Input"\n{lines}\n{indent}`````\n'
        if indent:
            page = f'??? note "Why"\n\n{page}'
        (fence,) = [token for token in READER.parse(plain(page)) if token.type == "fence"]
        assert (fence.info, fence.content) == ("python", f"{code}\n")


def test_an_included_file_that_has_a_fence_in_it_stays_whole(small):
    code = 'PAGE = """\n```text\n{{ not: a value }}\n```\n"""\n'
    (small / "snippets/fenced.py").write_text(code, encoding="utf-8")
    page = '```{ .python .annotate title="fenced.py" }\n--8<-- "fenced.py"\n```\n'
    told = plain(page)
    (fence,) = [token for token in READER.parse(told) if token.type == "fence"]
    assert (fence.info, fence.content) == ("python", code)
    assert told.startswith("**fenced.py**\n\n````python\n")


def test_what_is_folded_is_set_off_with_all_that_is_in_it():
    page = """\
??? success "Answer `a`"

    Text, `code
    on`, and

    $$
    \\query{x}
    $$

    ??? note "Inner"

        ```python
        if x:

            y
        ```

After.
"""
    assert (
        plain(page)
        == """\
> **Answer `a`**
>
> Text, `code
> on`, and
>
> $$
> {x}
> $$
>
> > **Inner**
> >
> > ```python
> > if x:
> >
> >     y
> > ```

After.
"""
    )


@pytest.mark.parametrize(
    ("page", "told"),
    [
        ("## Why √d { #why }\n\nText.", '<a id="why"></a>\n\n## Why √d\n\nText.'),
        ("Text.\n{ .touch }", "Text."),
        ("[Go](other.md#a){ .md-button }", "[Go](https://book.example/labs/other/index.md#a)"),
        ("[Home](../index.md)", "[Home](https://book.example/index.md)"),
        (
            "[Here](#a), [there](https://x.example/y.md)",
            "[Here](#a), [there](https://x.example/y.md)",
        ),
        ("[File](page.ipynb)", "[File](https://book.example/labs/page.ipynb)"),
        ("[Note](a.md#fn:x)", "[Note](https://book.example/labs/a/index.md)"),
        (
            "10^12^ and H~2~O, `a~b~c` $x^{2}$",
            "10<sup>12</sup> and H<sub>2</sub>O, `a~b~c` $x^{2}$",
        ),
        ('<span class="key">k</span> `<span>`', "k `<span>`"),
        ("`{ .python }` and `--8<--`", "`{ .python }` and `--8<--`"),
        (
            "![All of <eos>.](figures/a/b.svg)\n\n/// caption\nThis.\n///",
            "**[Figure](https://book.example/labs/page/).** All of \\<eos>.\n\n**Caption.** This.",
        ),
        (
            "<table><caption>Two</caption><tr><td></td><th>a</th></tr>"
            "<tr><th colspan=2>b</th></tr>"
            "<tr><td><code>x|y &lt; z</code></td><td>1</td></tr></table>",
            "**Two**\n\n|  | a |\n| --- | --- |\n| **b** |  |\n| `x\\|y < z` | 1 |",
        ),
    ],
)
def test_what_mkdocs_adds_is_told_plainly(page, told):
    assert plain(page).strip() == told


def test_chinese_emphasis_is_seen_without_spaces_around_it():
    text = "是**“重点”**内容，**注意。**这是**词**；**`f`**和*书。*好**对。***书*一"
    rendered = html_tree.parse(READER.render(plain(text, "zh")))
    assert [each.text() for each in rendered.find("strong")] == [
        "“重点”",
        "注意。",
        "词",
        "f",
        "对。",
    ]
    assert [each.text() for each in rendered.find("em")] == ["书。", "书"]


def test_lines_of_chinese_are_joined_without_a_space():
    assert plain("# 题\n\n一行，\n又一行。\nEnd\n", "zh") == "# 题\n\n一行，又一行。\nEnd\n"
