"""Each page leads to a card of its own: a picture of the right size that says whose it is."""

import subprocess
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser

from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.publish import cards
from built_pages import assert_no_errors
from sample_book import module_command

LIMIT = 60_000  # bytes


def metas(page) -> dict[str, str]:
    named = [meta.attributes for meta in page.tree.find("meta")]
    return {
        meta.get("property", meta.get("name", "")): meta["content"]
        for meta in named
        if "content" in meta
    }


@pytest.fixture(scope="module")
def root(built) -> str:
    """The site's address, as the home page reports it."""
    return next(metas(page)["og:url"] for page in built if page.url == "")


@pytest.fixture(scope="module")
def pictures(site, built, root) -> dict[str, Path]:
    """The card's file of each page, by its address."""
    found = {}
    for page in built:
        address = metas(page).get("og:image", "")
        if not address:
            pytest.fail(f"{page} has no card; build the site with scripts/publish", pytrace=False)
        assert address.startswith(root), f"{page}: {address} isn't the site's own"
        found[page.url] = site / address.removeprefix(root)
    return found


def test_every_page_has_a_card_of_its_own_and_there_are_no_others(site, pictures):
    assert len({*pictures.values()}) == len(pictures)
    assert {*pictures.values()} == {*site.glob("**/cards/**/*.png")}


def test_a_card_says_what_its_page_says_in_the_size_that_the_page_tells(built, pictures):
    errors = []
    for page in built:
        output = metas(page)
        with Image.open(pictures[page.url]) as picture:
            if picture.info.get("Title") != output["og:title"]:
                errors.append(f"{page} has the card of {picture.info.get('Title')}")
            if picture.info.get("Description") != output["description"]:
                errors.append(f"{page}: its card says {picture.info.get('Description')}")
            size = (int(output["og:image:width"]), int(output["og:image:height"]))
            if picture.size != size or size != cards.SIZE:
                errors.append(f"{page}: a card of {picture.size}, the page says {size}")
        if output["og:title"] not in output["og:image:alt"]:
            errors.append(f"{page}: its card has the text {output['og:image:alt']}")
        if output["twitter:card"] != "summary_large_image":
            errors.append(f"{page} asks for a small card")
    assert_no_errors(errors)


def test_no_two_cards_look_alike(pictures):
    looks = {Image.open(path).convert("RGB").tobytes() for path in pictures.values()}
    assert len(looks) == len(pictures)


def test_cards_are_light(pictures):
    assert_no_errors(
        f"{path.name}: {path.stat().st_size} bytes, {LIMIT} at most"
        for path in pictures.values()
        if path.stat().st_size > LIMIT
    )


@pytest.fixture
def page(browser: Browser):
    page = browser.new_page(viewport={"width": cards.SIZE[0], "height": cards.SIZE[1]})
    yield page
    page.close()


def card(title: str, about: str, language: str = "en") -> cards.Card:
    return cards.Card(language, Path("page.md"), Path("page.png"), "A Book", title, about)


@pytest.mark.parametrize("word", ["Representation", "表示"])
def test_a_long_title_is_written_smaller_until_it_fits(page, word):
    page.set_content(cards.card_html(card("Short", "Short.")))
    assert page.evaluate(cards.FIT_TEXT) == 1
    page.set_content(cards.card_html(card(" ".join([word] * 12), f"{word} " * 30)))
    assert 0.4 <= page.evaluate(cards.FIT_TEXT) < 1
    section = page.locator("section").bounding_box()
    header = page.locator("header").bounding_box()
    assert section["y"] >= header["y"] + header["height"]
    assert section["y"] + section["height"] <= cards.SIZE[1] - 72
    assert section["x"] + section["width"] <= cards.SIZE[0] - 80


def test_what_can_not_fit_is_an_error(page):
    with pytest.raises(SourceError, match="don't fit on a card"):
        cards.draw_card(page, card("Long " * 200, "Longer. " * 200))


def test_the_same_card_has_the_same_bytes_and_markup_stays_text(page):
    hostile = card("<h1>&amp;</h1>", "<script>document.body.remove()</script>", "zh")
    assert cards.draw_card(page, hostile) == cards.draw_card(page, hostile)
    assert page.locator("h1").inner_text() == "<h1>&amp;</h1>"
    assert page.locator("p").inner_text() == "<script>document.body.remove()</script>"


def test_chinese_is_drawn_in_a_chinese_font(page):
    """One without the characters would draw the same box for each."""
    pictures = {cards.draw_card(page, card(each, "", "zh")) for each in "注意力"}
    assert len(pictures) == 3
    page.set_content(cards.card_html(card("注意力", "掩码", "zh")))
    session = page.context.new_cdp_session(page)
    session.send("DOM.enable")
    session.send("CSS.enable")
    document = session.send("DOM.getDocument")["root"]["nodeId"]
    for selector in ("h1", "p"):
        asked = {"nodeId": document, "selector": selector}
        node = session.send("DOM.querySelector", asked)["nodeId"]
        fonts = session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
        assert sum(font["glyphCount"] for font in fonts) == (3 if selector == "h1" else 2)
        names = " ".join(font["familyName"] for font in fonts)
        assert any(each in names for each in ("CJK", "SC", "Sans GB", "YaHei", "Han")), names


def test_a_missing_site_reports_how_to_build_one(tmp_path):
    command = [*module_command(paths.ROOT, "publish"), tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"publish: no built site in {tmp_path}; run scripts/publish" in done.stderr
    assert not [*tmp_path.iterdir()]
