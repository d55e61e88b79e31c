"""Properties of every widget that replaces a picture, in a real browser."""

import pytest
from playwright.sync_api import Route, expect

from browser_pages import WIDGETS, check_accessibility, wait_until_idle

FOLDED_WIDGETS = ["masks", "positions", "shapes"]  # the others' own tests check their controls


@pytest.mark.parametrize("name", FOLDED_WIDGETS)
def test_without_javascript_the_picture_is_shown_without_a_hint_to_interact(
    no_javascript_page, home_url, name
):
    no_javascript_page.goto(home_url + WIDGETS[name][0])
    picture = no_javascript_page.locator(f"[data-widget={name}] .figure svg")
    expect(picture).to_be_visible()
    for invitation in no_javascript_page.locator(".touch").all():
        expect(invitation).to_be_hidden()


@pytest.mark.parametrize("name", ["attention", "heads", *FOLDED_WIDGETS])
def test_starting_a_widget_does_not_move_the_content_below(checked_page, home_url, name):
    url, started = WIDGETS[name]
    held_routes: list[Route] = []
    checked_page.route(f"**/widgets/{name}.js", lambda route: held_routes.append(route))
    checked_page.goto(home_url + url, wait_until="load")
    widget = checked_page.locator(f"[data-widget={name}]")
    with checked_page.expect_request(f"**/widgets/{name}.js"):
        widget.scroll_into_view_if_needed()
    checked_page.evaluate("document.fonts.ready")
    bottom_script = "element => element.nextElementSibling.getBoundingClientRect().top + scrollY"
    before = widget.evaluate(bottom_script)
    while not held_routes:
        checked_page.wait_for_timeout(10)  # handlers run while Playwright waits
    held_routes[0].continue_()
    expect(widget.locator(started)).to_be_visible()
    assert widget.evaluate(bottom_script) == pytest.approx(before, abs=4)


@pytest.mark.parametrize("name", FOLDED_WIDGETS)
def test_a_widget_is_accessible_and_its_controls_are_large_enough(checked_page, open_widget, name):
    open_widget(name)
    check_accessibility(checked_page, f"[data-widget={name}] .live")


@pytest.mark.parametrize("width", [1280])
@pytest.mark.parametrize("language", ["en"])
def test_a_widget_is_loaded_only_on_its_page_also_after_navigation(checked_page, home_url):
    requested: list[str] = []
    checked_page.on("request", lambda sent: requested.append(sent.url.rpartition("/")[2]))
    checked_page.goto(f"{home_url}sublayers/")
    wait_until_idle(checked_page)
    assert "common.js" not in requested
    requested.clear()
    link = checked_page.locator(".md-nav a[href='../mask-conventions/']").first
    link.evaluate("each => each.click()")  # its part of the navigation may be closed
    expect(checked_page).to_have_url(f"{home_url}mask-conventions/")
    widget = checked_page.locator("[data-widget=masks]")
    widget.scroll_into_view_if_needed()
    expect(widget.locator(".live")).to_have_count(1)
    assert {f"{name}.js" for name in WIDGETS} & {*requested} == {"masks.js"}
