"""formulas.py renders each formula once, as HTML and as MathML."""

import re

import pytest

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
    page = r'<p>a <span class="arithmatex">\(a &lt; b\)</span>'
    html = formulas.replace_formulas(page, {("a < b", False): "<i>1</i>"})
    assert formulas.rendered_formulas(html) == ["<i>1</i>"]
    assert formulas.formulas_as_text(html) == "<p>a a &lt; b"
    assert formulas.remove_comments(html) == "<p>a <i>1</i>"


def test_query_key_and_value_have_a_class_of_their_own():
    (markup,) = formulas.render_formulas([(r"\query{q} \key{k} \val{v}", False)]).values()
    assert re.findall('class="enclosing (\\w+)"', markup) == ["query", "key", "value"]


@pytest.mark.parametrize("tex", [r"\nonesuch", "中"])
def test_an_invalid_formula_raises_its_tex_and_the_reason(tex):
    with pytest.raises(ValueError) as error:
        formulas.render_formulas([(tex, False)])
    assert error.value.args[0] == tex
    assert "KaTeX parse error" in error.value.args[1] or "LaTeX" in error.value.args[1]


def test_the_style_sheet_names_exactly_the_fonts_that_are_published():
    rendered = formulas.render_formulas([(r"x \mathbb{R} \mathbf{v} \text{a} \sum_i", True)])
    css, fonts = formulas.style_sheet(rendered.values())
    assert {part.split(")")[0] for part in css.split("url(fonts/")[1:]} == fonts.keys()
    families = {name.removeprefix("KaTeX_").removesuffix(".woff2") for name in fonts}
    assert families >= {"Main-Regular", "Main-Bold", "Math-Italic", "AMS-Regular", "Size2-Regular"}
    assert "Fraktur-Regular" not in families
