"""The Markdown of authors renders as intended, with the configuration of the site."""

import re
from html import unescape
from textwrap import indent

import markdown
import pytest
from mkdocs.config import load_config

from bookbuild.mkdocs_site import formulas, markdown_extension
from bookbuild.mkdocs_site.search_index import searchable_html
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from built_pages import ROOT
from sample_book import change, line_of


@pytest.fixture(scope="module", params=["mkdocs.yml", "mkdocs.zh.yml"])
def config(request):
    return load_config(str(ROOT / request.param))


@pytest.fixture
def render_markdown(config):
    """A function that converts Markdown to HTML as the build does."""

    def call(text: str, name: str = "index.md") -> str:
        options = config.mdx_configs[markdown_extension.__name__] | {"page": name}
        converter = markdown.Markdown(
            extensions=config.markdown_extensions,
            extension_configs=config.mdx_configs | {markdown_extension.__name__: options},
        )
        return converter.convert(text)

    return call


@pytest.fixture
def empty_glossary(monkeypatch):
    """Make the glossary empty."""
    monkeypatch.setattr(markdown_extension, "tooltips", lambda language: {})


CHINESE_MARKUP = [
    ("**注意：**这是", "<strong>注意：</strong>这是"),
    ("**多头注意力（MHA）**是", "<strong>多头注意力（MHA）</strong>是"),
    ("见**《论文》**，", "见<strong>《论文》</strong>，"),
    ("一个*强调。*后", "一个<em>强调。</em>后"),
    ("（`x`）和`y`，再", "（<code>x</code>）和<code>y</code>，再"),
    ("维度（$d_k$）是", '维度<span class="nowrap">（<!--tex:d_k-->'),
    ("**向量 $x$：**后", '<strong>向量 <span class="nowrap"><!--tex:x-->'),
    ("见[词嵌入](index.md)。后", '见<a href="index.md">词嵌入</a>。后'),
    ("d~model~，x^2^。", "d<sub>model</sub>，x<sup>2</sup>。"),
]


@pytest.mark.parametrize(("text", "expected"), CHINESE_MARKUP)
@pytest.mark.parametrize("place", ["{}", "- {}", "| 甲 |\n|---|\n| {} |", "!!! note\n\n    {}"])
def test_markup_next_to_full_width_punctuation_renders(
    empty_glossary, render_markdown, text, expected, place
):
    html = render_markdown(place.format(text))
    assert expected in html
    assert not re.search(r"\*|\^\^|~~|`", html)


def test_lines_of_chinese_join_without_a_space_and_those_of_english_do_not(
    config, render_markdown, empty_glossary
):
    if config.theme["language"] == "zh":
        assert "<p>前一行，后一行。" in render_markdown("前一行，\n后一行。")
        assert "<p>前一行\nline</p>" in render_markdown("前一行\nline")
        assert "甲\n乙" in render_markdown("```text\n甲\n乙\n```")
    else:
        assert "<p>“one”\n“two”</p>" in render_markdown("“one”\n“two”")


def test_footnotes_are_numbered_as_a_reader_meets_them(render_markdown):
    html = render_markdown("- 一。[^a]后\n\ntwo[^b], one again[^a]\n\n[^b]: B.\n[^a]: A.")
    assert re.findall(r'href="#fn:(\w)">(\d)<', html) == [("a", "1"), ("b", "2"), ("a", "1")]
    assert re.findall(r'<li id="fn:(\w)">', html) == ["a", "b"]


# Notes on lines of code


def annotated_block(notes: str, code: str = "def f(x):  # why\n    return x") -> str:
    return f"```{{ .python .annotate }}\n{code}\n```\n\n{notes}\n"


def noted_lines(html: str) -> list[tuple[str, str, str]]:
    """The lines of code with a note, each with its number and the text of the note it links to."""
    return [
        (re.sub("<[^>]+>", "", line), number, re.sub("<[^>]+>|\n", "", note))
        for line, name, number in re.findall(
            r'<span class="noted">(.*?)<a class="note-link" href="#(.*?)" data-note="(.*?)"', html
        )
        for note in re.findall(rf'id="{name}">(.*?)</div>', html, re.S)
    ]


def test_a_line_links_to_the_note_that_begins_with_its_code(render_markdown):
    notes = "1.  `return x` What.\n\n    More.\n\n2.  `def f` Why."
    block = annotated_block(notes)
    for text in (block, "!!! note\n\n" + indent(block, "    ")):
        html = render_markdown(text)
        assert noted_lines(html) == [
            ("def f(x):  # why", "2", "def f Why."),
            ("    return x", "1", "return x What.More."),
        ]
        code = re.search("<code style.*?</code>", html, re.S)[0]
        assert re.sub("<[^>]+>", "", code) == "def f(x):  # why\n    return x\n"


def test_a_note_has_the_height_from_its_line_to_the_next(render_markdown):
    code = "import torch\n\n\ndef f(x):  # why\n    return x"
    html = render_markdown(annotated_block("1.  `def f` Why.\n2.  `return x` What.", code))
    assert '<ol style="--above: 60.0%">' in html
    assert re.findall("flex-basis: (.*?)%", html) == ["20.0", "20.0"]


def test_code_in_a_table_breaks_only_between_its_words(render_markdown):
    html = render_markdown("| a |\n|---|\n| `nn.Linear(in_axis=1)` |\n\n`nn.Linear`")
    assert "<code>nn.<wbr>Linear(<wbr>in_<wbr>axis=<wbr>1)</code>" in html
    assert "<code>nn.Linear</code>" in html


@pytest.mark.parametrize(
    ("notes", "piece", "message"),
    [
        ("1.  `return y` What.", "1.  `return y`", "0 lines of the block above contain `return y`"),
        ("1.  What.", "```{ .python .annotate", "note 1 doesn't begin with code of this block"),
        ("Nothing.", "```{ .python .annotate", "no numbered notes follow this block"),
    ],
)
def test_a_note_without_a_matching_line_is_reported_with_file_and_line(
    sample_folder, config, render_markdown, notes, piece, message
):
    page = sample_folder / "docs" / config.theme["language"] / "index.md"
    change(page, "$x^2$", annotated_block(notes))
    with pytest.raises(SourceError) as error:
        render_markdown(annotated_block(notes))
    where = f"{page.relative_to(sample_folder)}:{line_of(page, piece)}"
    assert str(error.value) == f"{where}: {message}"


# Figures, tooltips


def test_a_figure_is_inlined_with_its_alternative_text(sample_folder, config, render_markdown):
    language = config.theme["language"]
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path/></svg>'
    write_file(paths.GENERATED / language / "figures/chapter/line.svg", svg)
    html = render_markdown('![一条 "线" <](figures/chapter/line.svg)\n\n/// caption\nText.\n///')
    output = "一条 &quot;线&quot; &lt;"
    assert f'<svg role="img" aria-label="{output}" viewBox="0 0 1 1"><path/></svg>' in html
    assert "<figcaption>" in html
    assert "<img" not in html


def test_a_term_is_explained_where_a_page_first_uses_it(sample_folder, config, render_markdown):
    language = config.theme["language"]
    if language == "en":
        html = render_markdown("`token` **Token** and token; tokens.")
        assert html.count("<abbr") == 1
        assert '<strong><abbr title="a piece (词元)">Token</abbr></strong>' in html
    else:
        html = render_markdown("`词元`，**词元**和词元。")
        assert html.count("<abbr") == 1
        assert '<strong><abbr title="一段 (token)">词元</abbr></strong>' in html
    (sample_folder / f"docs/{language}/glossary.md").write_text("# Glossary\n")
    assert "<abbr" not in render_markdown("token 词元", name="glossary.md")


# Formulas, from Markdown to the final HTML


@pytest.mark.parametrize(
    "tex",
    [
        r"\begin{aligned} a &= b < c \\ c &= d \end{aligned}",
        r"a_1 * b_2 * c \quad \text{对所有词元}",
        r"\query{q}^\top \key{k}",
    ],
)
def test_formulas_survive_markdown(render_markdown, tex):
    for text, display in ((f"对 ${tex}$。", False), (f"$$\n{tex}\n$$", True)):
        html = render_markdown(text)
        (kept,) = re.findall("<!--tex:(.*?)-->", html, re.S)
        assert unescape(kept).strip() == tex
        assert html.count('class="katex"') == 1
        assert ('<div class="formula"' in html) == display
        assert "<math" in html
        assert "arithmatex" not in html


def test_code_with_dollars_is_no_formula(render_markdown):
    html = render_markdown("`$x$`, $5 and $6\n\n```sh\necho $x$\n```")
    assert formulas.rendered_formulas(html) == []


def test_a_broken_formula_is_reported_with_its_page_and_line(
    sample_folder, config, render_markdown
):
    language = config.theme["language"]
    page = sample_folder / f"docs/{language}/index.md"
    change(page, "$x^2$", r"$\frac{1}$")
    with pytest.raises(SourceError) as error:
        render_markdown(r"$\frac{1}$")
    message = str(error.value)
    assert message.startswith(
        f"docs/{language}/index.md:{line_of(page, 'frac')}: KaTeX parse error"
    )
    assert message.endswith("; katex.org/docs/supported.html lists what there is")


def test_the_search_indexes_words_without_figures_and_tex(render_markdown):
    html = render_markdown("a $x$, $\\frac{1}{2}$.\n\n<svg>b</svg>")
    read = re.sub("<[^>]+>", "", searchable_html(html))
    assert "a x, …." in read
    assert "b" not in read
