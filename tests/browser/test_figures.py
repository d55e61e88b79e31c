"""What goes for every figure that answers, in a real browser."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, Route, expect

from browser_pages import BASE, LANGUAGE_AT, settle, wait_for_route
from built_pages import assert_no_errors

PAGES = {"positions": "rotations/", "masks": "masks/", "shapes": "attention/"}
every_figure = pytest.mark.parametrize("name", PAGES)


@pytest.fixture
def language(width: int) -> str:
    return LANGUAGE_AT[width]


def opened(page: Page, home: str, name: str) -> Locator:
    """The figure, alive, on its page."""
    page.goto(home + PAGES[name])
    figure = page.locator(f"[data-widget={name}]")
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".live")).to_be_visible()
    return figure


@every_figure
def test_without_javascript_the_picture_is_shown_without_an_invitation(
    browser: Browser, port, home, name
):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(home + PAGES[name])
    figure = page.locator(f"[data-widget={name}]")
    expect(figure.locator(".figure svg")).to_be_visible()
    expect(figure.locator("figcaption")).to_be_visible()
    for invitation in page.locator(".touch").all():
        expect(invitation).to_be_hidden()
    context.close()


@every_figure
def test_starting_moves_nothing_below(reader, home, name):
    held: list[Route] = []
    reader.route(f"**/widgets/{name}.js", lambda route: held.append(route))
    reader.goto(home + PAGES[name], wait_until="load")
    figure = reader.locator(f"[data-widget={name}]")
    with reader.expect_request(f"**/widgets/{name}.js"):
        figure.scroll_into_view_if_needed()
    reader.evaluate("document.fonts.ready")
    below = "element => element.nextElementSibling.getBoundingClientRect().top + scrollY"
    before = figure.evaluate(below)
    wait_for_route(reader, held).continue_()
    expect(figure.locator(".live")).to_be_visible()
    assert abs(figure.evaluate(below) - before) <= 4


@every_figure
@pytest.mark.parametrize(
    ("language", "width", "scheme"), [("en", 1280, "light"), ("zh", 390, "dark")]
)
def test_axe_finds_nothing_in_it(reader, home, name, scheme):
    reader.emulate_media(color_scheme=scheme)
    opened(reader, home, name)
    found = Axe().run(reader, context=f"[data-widget={name}] .live").response["violations"]
    assert_no_errors(
        f"{violation['id']}: {violation['help']}\n    {node['html'][:200]}"
        for violation in found
        for node in violation["nodes"]
    )


@every_figure
@pytest.mark.parametrize("language", ["en"])
def test_what_is_to_be_touched_is_large_enough_and_nothing_sticks_out(reader, home, width, name):
    figure = opened(reader, home, name)
    for control in figure.locator("button, select, input, tbody td").all():
        box = control.bounding_box()
        assert box["width"] >= 24 and box["height"] >= 24, control.evaluate("e => e.outerHTML")
        assert box["x"] >= 0 and box["x"] + box["width"] <= width


@pytest.mark.parametrize("width", [1280])
@pytest.mark.parametrize("language", ["zh"])
def test_it_is_loaded_only_on_the_page_that_has_it(reader, home):
    asked: list[str] = []
    reader.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    for name in PAGES:
        asked.clear()
        opened(reader, home, name)
        assert {f"{name}.js", "common.js"} <= {*asked}
        assert not {f"{other}.js" for other in PAGES if other != name} & {*asked}
    asked.clear()
    reader.goto(f"{home}sublayers/")
    settle(reader)
    assert "common.js" not in asked


@pytest.mark.parametrize("width", [1280])
@pytest.mark.parametrize("language", ["en"])
def test_it_lives_on_each_page_that_one_goes_to(reader, home):
    opened(reader, home, "shapes")
    for name, link in (("masks", "next"), ("shapes", "prev")):
        reader.locator(f".md-footer__link--{link}").click()
        expect(reader).to_have_url(BASE + PAGES[name])
        figure = reader.locator(f"[data-widget={name}]")
        figure.scroll_into_view_if_needed()
        expect(figure.locator(".live")).to_have_count(1)
        figure.locator("input").first.press("ArrowRight")
