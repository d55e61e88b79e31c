"""Properties of every widget that replaces a picture, in a real browser."""

import pytest
from playwright.sync_api import Browser, Route, expect

from browser_pages import (
    BASE_URL,
    PAGE_BY_WIDGET,
    axe_errors,
    unfold,
    wait_for_route,
    wait_until_idle,
)
from built_pages import assert_no_errors

parametrize_widget = pytest.mark.parametrize("name", PAGE_BY_WIDGET)
# Two more, whose own tests check their controls, with what shows that they have started.
READY = {"attention": ("attention/", "table >> nth=7"), "heads": ("learned/", "form")}
READY |= {name: (url, ".live") for name, url in PAGE_BY_WIDGET.items()}


@parametrize_widget
def test_without_javascript_the_picture_is_shown_without_a_hint_to_interact(
    browser: Browser, home_url, name
):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(home_url + PAGE_BY_WIDGET[name])
    widget = page.locator(f"[data-widget={name}]")
    expect(widget.locator(".figure svg")).to_be_visible()
    expect(widget.locator("figcaption")).to_be_visible()
    for invitation in page.locator(".touch").all():
        expect(invitation).to_be_hidden()
    context.close()


@pytest.mark.parametrize("name", READY)
def test_starting_a_widget_does_not_move_the_content_below(checked_page, home_url, name):
    url, ready = READY[name]
    held_routes: list[Route] = []
    checked_page.route(f"**/widgets/{name}.js", lambda route: held_routes.append(route))
    checked_page.goto(home_url + url, wait_until="load")
    widget = checked_page.locator(f"[data-widget={name}]")
    with checked_page.expect_request(f"**/widgets/{name}.js"):
        widget.scroll_into_view_if_needed()
    checked_page.evaluate("document.fonts.ready")
    bottom_script = "element => element.nextElementSibling.getBoundingClientRect().top + scrollY"
    before = widget.evaluate(bottom_script)
    wait_for_route(checked_page, held_routes).continue_()
    expect(widget.locator(ready)).to_be_visible()
    assert abs(widget.evaluate(bottom_script) - before) <= 4


@parametrize_widget
@pytest.mark.parametrize(
    ("language", "width", "scheme"), [("en", 1280, "light"), ("zh", 390, "dark")]
)
def test_a_widget_is_accessible_and_its_controls_are_large_enough(
    checked_page, open_widget, name, width, scheme
):
    checked_page.emulate_media(color_scheme=scheme)
    widget = open_widget(name)
    assert_no_errors(axe_errors(checked_page, f"[data-widget={name}] .live"))
    for control in widget.locator("button, select, input, tbody td").all():
        box = control.bounding_box()
        assert box["width"] >= 24 and box["height"] >= 24, control.evaluate("e => e.outerHTML")
        assert box["x"] >= 0 and box["x"] + box["width"] <= width


@pytest.mark.parametrize("width", [1280])
@pytest.mark.parametrize("language", ["en"])
def test_a_widget_is_loaded_only_on_its_page_also_after_navigation(checked_page, home_url):
    requested: list[str] = []
    checked_page.on("request", lambda sent: requested.append(sent.url.rpartition("/")[2]))
    checked_page.goto(f"{home_url}sublayers/")
    wait_until_idle(checked_page)
    assert "common.js" not in requested
    for name in ("shapes", "masks", "positions"):
        requested.clear()
        link = checked_page.locator(f".md-nav a[href='../{PAGE_BY_WIDGET[name]}']").first
        link.evaluate("each => each.click()")  # its part of the navigation may be closed
        expect(checked_page).to_have_url(BASE_URL + PAGE_BY_WIDGET[name])
        widget = checked_page.locator(f"[data-widget={name}]")
        widget.scroll_into_view_if_needed()
        expect(widget.locator(".live")).to_have_count(1)
        unfold(widget)
        widget.locator("input").first.press("ArrowRight")
        others = {f"{other}.js" for other in PAGE_BY_WIDGET if other != name}
        assert f"{name}.js" in requested and not others & {*requested}
