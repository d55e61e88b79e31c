"""formulas.py renders each formula once, as HTML and as MathML."""

import io
import re

import pytest
from fontTools.ttLib import TTFont

from bookbuild.mkdocs_site import formulas


def test_formulas_are_found_and_replaced_in_place():
    inline = r'a <span class="arithmatex">\(a &lt; b\)</span> b'
    display = '<div class="arithmatex">\\[\nx\n\\]</div>'
    assert formulas.find_formulas(inline + display) == [("a < b", False), ("x", True)]
    rendered = {("a < b", False): "<i>1</i>", ("x", True): "<i>2</i>"}
    assert formulas.replace_formulas(inline + display, rendered) == (
        "a <!--tex:a &lt; b--><i>1</i><!--tex--> b"
        '<!--tex:\nx\n--><div class="formula" tabindex="0"><i>2</i></div><!--tex-->'
    )


def test_punctuation_stays_in_the_line_of_a_short_formula():
    def page(tex):
        return f'（<span class="arithmatex">\\({tex}\\)</span>）。'

    long = "+".join("abcdefghijklmnop")
    rendered = {("x", False): "<i>x</i>", (long, False): "<i>long</i>"}

    def replaced(tex):
        return formulas.remove_comments(formulas.replace_formulas(page(tex), rendered))

    assert replaced("x") == '<span class="nowrap">（<i>x</i>）。</span>'
    assert replaced(long) == "（<i>long</i>）。"


def test_the_comments_around_a_formula_have_its_tex_and_give_its_html():
    formula = r'<span class="arithmatex">\({}\)</span>'
    page = f"<p>a {formula.format('a &lt; b')} {formula.format(chr(92) + 'pi')}"
    rendered = {("a < b", False): "<i>1</i>", (r"\pi", False): "<i>2</i>"}
    html = formulas.replace_formulas(page, rendered)
    assert formulas.rendered_formulas(html) == ["<i>1</i>", "<i>2</i>"]
    assert formulas.formulas_as_text(html) == "<p>a a &lt; b …"
    assert formulas.remove_comments(html) == "<p>a <i>1</i> <i>2</i>"


@pytest.mark.parametrize(
    "tex",
    [
        r"y = x \tag{1}",
        r"\begin{aligned} a &= b \\ c &= d \end{aligned}",
        r"\begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}",
        r"\underbrace{a + b}_{\text{two of them}}",
        r"a \quad \text{对所有词元，都成立}",
        r"\operatorname{softmax}\left(\frac{\query{Q}\key{K}^\top}{\sqrt{d_k}}\right)\val{V}",
        r"a < b \& c > d",
    ],
)
def test_formulas_are_rendered_as_html_and_mathml(tex):
    (markup,) = formulas.render_formulas([(tex, True)]).values()
    assert '<span class="katex-html" aria-hidden="true">' in markup
    assert "<math" in markup
    assert "<annotation" not in markup and "<semantics" not in markup
    assert "katex-error" not in markup


def test_letters_have_an_element_only_in_vertical_lists():
    rendered = formulas.render_formulas([("x=12", False), ("x_{1,2}", False)])
    assert '<span class="mathnormal">x</span>' in rendered["x=12", False]
    assert "</span>=<span" in rendered["x=12", False]
    assert '<span class="katex-base">12</span>' in rendered["x=12", False]
    assert re.search(r'size3"><span class="mord">1,?2?', rendered["x_{1,2}", False])


def test_a_strut_is_kept_only_if_it_exceeds_the_line_height():
    rendered = formulas.render_formulas([("x_1", False), (r"\frac{1}{2}", False)])
    assert "katex-strut" not in rendered["x_1", False]
    assert rendered[r"\frac{1}{2}", False].count("katex-strut") == 1


def test_mathml_has_no_layout_attributes():
    (markup,) = formulas.render_formulas(
        [(r"\begin{bmatrix} f(1) & 0 \end{bmatrix}", False)]
    ).values()
    math, drawn = markup.split("</math>")
    assert "<mtr><mtd>" in math
    assert "stretchy" not in math and "spacing" not in math
    assert "vertical-align" in drawn


@pytest.mark.parametrize(("macro", "name"), [("query", "query"), ("key", "key"), ("val", "value")])
def test_query_key_and_value_have_a_class_of_their_own(macro, name):
    (markup,) = formulas.render_formulas([(rf"\{macro}{{q}}", False)]).values()
    assert f'class="enclosing {name}"' in markup


def test_chinese_text_is_kept_in_html_and_mathml():
    (markup,) = formulas.render_formulas([(r"\text{中文}", False)]).values()
    assert "中文" in markup.split("</math>")[1], "in the HTML"
    assert "<mtext>中文</mtext>" in markup, "in the MathML"


@pytest.mark.parametrize("tex", [r"\frac{1}", r"\nonesuch", r"x_", r"\begin{aligned} a", "中"])
def test_an_invalid_formula_raises_its_tex_and_the_reason(tex):
    with pytest.raises(ValueError) as error:
        formulas.render_formulas([(tex, False)])
    assert error.value.args[0] == tex
    assert "KaTeX parse error" in error.value.args[1] or "LaTeX" in error.value.args[1]


FORMULAS_WITH_OTHER_FONTS = [
    r"x_{1}",
    r"\sqrt{\frac{a}{b}}",
    r"\mathbb{R}",
    r"\mathbf{v}\text{ and}",
    r"\sum_i",
]


def test_the_style_sheet_names_exactly_the_fonts_that_are_published():
    css, fonts = formulas.style_sheet(
        formulas.render_formulas([(tex, True) for tex in FORMULAS_WITH_OTHER_FONTS]).values()
    )
    assert {part.split(")")[0] for part in css.split("url(fonts/")[1:]} == fonts.keys()
    families = {name.removeprefix("KaTeX_").removesuffix(".woff2") for name in fonts}
    assert families >= {"Main-Regular", "Main-Bold", "Math-Italic", "AMS-Regular", "Size2-Regular"}
    assert "Fraktur-Regular" not in families
    assert "Math-BoldItalic" not in families


def test_a_css_rule_is_kept_only_if_a_formula_has_its_classes():
    css, _ = formulas.style_sheet(formulas.render_formulas([(r"\frac{1}{2}", False)]).values())
    assert ".katex .mfrac .frac-line{" in css
    assert ".katex .katex-mathml{" in css
    assert "reset-size6.size3{" in css
    assert "reset-size1.size1{" not in css
    assert ".mathbb" not in css
    assert ".katex-accent .accent-body" not in css
    accent, _ = formulas.style_sheet(formulas.render_formulas([(r"\hat{x}", False)]).values())
    assert ".accent-body:not(.accent-full){" in accent


def test_the_fonts_keep_only_the_characters_of_formulas():
    rendered = formulas.render_formulas([("x+1", False), (r"\mathbb{R}\text{a为}", False)]).values()
    _, fonts = formulas.style_sheet(rendered)

    def font_characters(name: str) -> set[str]:
        font = TTFont(io.BytesIO(fonts[f"KaTeX_{name}.woff2"]))
        return {chr(code) for code in font.getBestCmap()} - {"\u200b"}

    assert font_characters("Main-Regular") == {"+", "1", "a", "x", "R"}
    assert font_characters("Math-Italic") == {"1", "a", "x", "R"}
    assert font_characters("AMS-Regular") == {"R"}
    assert formulas.style_sheet(rendered)[1] == fonts
