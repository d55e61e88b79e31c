"""Each page has its own card: a picture of the right size with title and description."""

from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser

from bookbuild.pages.errors import SourceError
from bookbuild.publish import cards

MAX_CARD_BYTES = 60_000  # bytes


def meta_contents(page) -> dict[str, str]:
    named = [meta.attributes for meta in page.tree.find("meta")]
    return {
        meta.get("property", meta.get("name", "")): meta["content"]
        for meta in named
        if "content" in meta
    }


@pytest.fixture(scope="module")
def card_files(site, built_pages, site_url) -> dict[str, Path]:
    """The card's file of each page, by its address."""
    found = {}
    for page in built_pages:
        address = meta_contents(page).get("og:image", "")
        if not address:
            pytest.fail(f"{page} has no card; build the site with scripts/publish", pytrace=False)
        assert address.startswith(site_url), f"{page}: {address} isn't the site's own"
        found[page.url] = site / address.removeprefix(site_url)
    return found


def test_every_page_has_a_card_of_its_own_and_there_are_no_others(site, card_files):
    assert len({*card_files.values()}) == len(card_files)
    assert {*card_files.values()} == {*site.glob("**/cards/**/*.png")}


def test_a_card_has_the_title_description_and_size_of_its_page(built_pages, card_files):
    for page in built_pages:
        output = meta_contents(page)
        with Image.open(card_files[page.url]) as picture:
            texts = picture.info["Title"], picture.info["Description"]
            assert texts == (output["og:title"], output["description"])
            size = (int(output["og:image:width"]), int(output["og:image:height"]))
            assert picture.size == size == cards.CARD_SIZE, page
        assert output["og:title"] in output["og:image:alt"]
        assert output["twitter:card"] == "summary_large_image"
        assert card_files[page.url].stat().st_size <= MAX_CARD_BYTES, page


@pytest.fixture
def page(browser: Browser):
    page = browser.new_page(viewport={"width": cards.CARD_SIZE[0], "height": cards.CARD_SIZE[1]})
    yield page
    page.close()


def test_a_text_that_does_not_fit_is_an_error(page):
    files = Path("page.md"), Path("page.png")
    card = cards.Card("en", *files, "A Book", "Long " * 200, "Longer. " * 200)
    with pytest.raises(SourceError, match="don't fit on a card"):
        cards.draw_card(page, card)
