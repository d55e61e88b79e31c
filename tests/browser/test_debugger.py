"""The widget of the page Step through: every control, by mouse and by keyboard."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.page import MAX_LAYOUT_SHIFT
from bookbuild.generated.shape_tracer import MODEL_FILE
from bookbuild.pages.sections import without_section_markers
from bookbuild.step_through.step_notes import load_tour
from browser_pages import RECORD_SHIFTS_SCRIPT, axe_errors, parse_number, wait_until_idle
from built_pages import assert_no_errors

WIDGET = "[data-widget=step-through]"
SCORES = "scaled_dot_product_attention@encoder.layers.0.self_attention:scores"
WEIGHTS = "scaled_dot_product_attention@decoder.layers.1.cross_attention:weights"

wide_only = pytest.mark.parametrize("width", [1280])


@pytest.fixture
def page(checked_page: Page) -> Page:
    return checked_page


def open_widget(page: Page, home_url: str, query: str) -> Locator:
    """The widget at an address with a state, at which it starts by itself."""
    page.goto(f"{home_url}step-through/{query}", wait_until="domcontentloaded")
    widget = page.locator(WIDGET)
    widget.scroll_into_view_if_needed()
    expect(shown_values(widget)).to_be_visible()
    return widget


def open_unstarted(page: Page, home_url: str) -> Locator:
    page.goto(f"{home_url}step-through/")
    widget = page.locator(WIDGET)
    expect(start_button(widget)).to_be_visible()
    return widget


def start_button(widget: Locator) -> Locator:
    return widget.locator(".debugger__start button")


def shown_values(widget: Locator) -> Locator:
    return widget.locator(".debugger :is(figure, .debugger__values)").first


def action(widget: Locator, name: str) -> Locator:
    return widget.locator(f"[data-action={name}]")


def current_line(widget: Locator) -> int:
    return int(widget.locator(".now .number").first.inner_text())


def line_number(code: str) -> int:
    """The line of the downloaded model that contains this code."""
    lines = without_section_markers(MODEL_FILE).splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if code in line]
    return number


def current_stop(widget: Locator) -> int:
    return int(widget.locator(".debugger__slider").input_value())


def shown_names(widget: Locator) -> list[str]:
    return widget.locator("figcaption b").all_inner_texts()


def expect_address(page: Page, text: str) -> None:
    page.wait_for_function("(text) => decodeURIComponent(location.search).includes(text)", arg=text)


def run_sentence(widget: Locator, sentence: str, target: str = "") -> None:
    widget.locator("#translator-field").fill(sentence)
    widget.locator("[name=forced]").fill(target)
    widget.locator(".debugger__form [type=submit]").click()


def test_nothing_is_fetched_before_the_first_action_and_starting_shifts_nothing(
    page, home_url, width
):
    requested_urls: list[str] = []
    page.on("request", lambda request: requested_urls.append(request.url))
    page.add_init_script(RECORD_SHIFTS_SCRIPT)
    widget = open_unstarted(page, home_url)
    wait_until_idle(page)
    expect(widget.locator("svg:visible")).to_have_count({1280: 12, 390: 4}[width])
    assert_no_errors(axe_errors(page, WIDGET))
    page.keyboard.press("ArrowDown")
    page.locator(".md-content a:visible").first.press("ArrowRight")
    wait_until_idle(page)
    assert not [url for url in requested_urls if "/downloads/" in url or "debugger" in url]
    start_button(widget).click()
    expect(shown_values(widget)).to_be_visible()
    wait_until_idle(page)
    assert len([url for url in requested_urls if url.endswith(".safetensors")]) == 1
    assert page.evaluate("window.shift") <= MAX_LAYOUT_SHIFT


def test_a_key_starts_the_tour_from_the_ids_to_the_logits(page, home_url, language):
    widget = open_unstarted(page, home_url)
    page.keyboard.press("ArrowRight")
    for number, stop in enumerate(load_tour(), 1):
        title = f"{number}. {stop[f'{language}_title']}"
        expect(widget.locator(".debugger__explanation b")).to_have_text(title)
        expect(widget.locator(".debugger__explanation")).to_contain_text(stop[language])
        if number < 12:
            page.keyboard.press("Enter" if number == 1 else "ArrowRight")
    assert shown_names(widget) == ["return"]
    expect(widget.locator(".debugger__shares li").first).to_contain_text("我")
    page.keyboard.press("ArrowLeft")
    expect(action(widget, "tour")).to_contain_text("11")
    page.keyboard.press("t")
    expect(action(widget, "tour")).to_have_attribute("aria-pressed", "false")


@wide_only
def test_keys_and_buttons_move_as_in_a_debugger(page, home_url):
    widget = open_widget(page, home_url, "?at=Transformer.forward")
    keys = {"step": "Right", "over": "Down", "out": "Up", "back": "Left"}
    # Over passes the embedding, and then everything else of Transformer.encode.
    actions = ["step", "over", "over", "step", "step", "out", "back"]
    stops = [1, 7, 92, 93, 94, 96, 95]
    for name, stop in zip(actions, stops, strict=True):
        action(widget, name).click()
        assert current_stop(widget) == stop
    page.keyboard.press("Home")
    assert current_stop(widget) == 0
    for name, stop in zip(actions, stops, strict=True):
        page.keyboard.press(f"Arrow{keys[name]}")
        assert current_stop(widget) == stop
    page.keyboard.press("End")
    expect(action(widget, "step")).to_have_attribute("aria-disabled", "true")
    widget.locator(".debugger__slider").fill("33")
    widget.locator(".debugger__stack button").nth(3).click()
    expect(widget.locator(".debugger__stack")).to_contain_text("EncoderLayer.forward")
    assert current_stop(widget) == 12


@wide_only
def test_a_line_number_runs_to_the_line_and_a_box_jumps_to_its_part(page, home_url):
    widget = open_widget(page, home_url, "?at=Transformer.forward")
    line = line_number("hidden = self.linear1(x)")
    widget.locator(".debugger__line button", has_text=re.compile(f"^{line}$")).click()
    assert current_line(widget) == line
    assert shown_names(widget) == ["hidden"]
    first = current_stop(widget)
    action(widget, "layer").click()
    assert current_line(widget) == line
    assert current_stop(widget) > first
    diagram, stack = widget.locator(".debugger__diagram"), widget.locator(".debugger__stack")
    expect(diagram.locator("[aria-current]")).to_contain_text("Feed-forw.")
    diagram.locator("g").first.press("Enter")
    expect(stack).to_contain_text("TokenEmbedding.forward")
    diagram.locator(".cross[aria-label*='layer 1']").click()
    assert shown_names(widget) == ["weights", "scores", "mask"]
    expect(stack).to_contain_text("layer 1 · decoder.layers.1.cross_attention")


def test_a_link_shows_its_tensor_and_its_line(page, home_url, width):
    widget = open_widget(page, home_url, f"?at={WEIGHTS}")
    expect(widget.locator("figure").first).to_be_in_viewport(ratio=1)
    expect(widget.locator(".now code").first).to_be_in_viewport(ratio=1)
    if width < 720:
        box = widget.locator(".debugger__code")
        assert box.evaluate("(box) => box.clientHeight <= 3 * box.firstElementChild.offsetHeight")


@wide_only
def test_a_change_shows_both_tensors_and_their_difference(page, home_url):
    widget = open_widget(page, home_url, f"?at={WEIGHTS}&off=scale&head=1&target=3")
    captions = widget.locator("figcaption")
    expect(captions).to_have_count(3)
    expect(captions.last).to_contain_text("difference (changed − original)")
    values = []
    for canvas, readout in zip(
        widget.locator("figure > canvas").all(),
        widget.locator(".debugger__readout").all(),
        strict=True,
    ):
        for _ in range(3):
            canvas.press("ArrowRight")
        expect(readout).to_contain_text("[0, 1, 3 为, 2 we]")
        values.append(parse_number(readout.inner_text().split(" = ")[1]))
    original, changed, difference = values
    assert original < changed
    assert difference == pytest.approx(changed - original, abs=1e-3)
    without = widget.locator(".debugger__choices select").last
    without.select_option("mask")
    scope = widget.locator(".debugger__scope")
    expect(scope).to_contain_text("All masks of the model are left out")
    without.select_option("decoder.layers.1.cross_attention.0")
    widget.locator(".debugger__slider").fill("33")
    expect(captions).to_contain_text(["No difference."])


def test_head_and_token_stay_selected(page, home_url):
    widget = open_widget(page, home_url, f"?at={SCORES}&head=2&source=3")
    head, token, *_ = widget.locator(".debugger__choices select").all()
    widget.locator(".debugger__locals button", has_text="value").click()  # stays in view
    action(widget, "step").click()
    assert shown_names(widget) == ["scores", "scores", "value"]
    expect(head).to_have_value("2")
    expect(token).to_have_value("3")
    page.keyboard.press("h")
    page.keyboard.press("n")
    expect(head).to_have_value("3")
    expect(token).to_have_value("4")
    widget.locator(".debugger__heads button").nth(1).click()
    expect(head).to_have_value("1")
    expect_address(page, "head=1")


@wide_only
@pytest.mark.only_browser("chromium")  # the others don't let a script read the clipboard
def test_the_address_leads_back_to_the_moment(page, home_url):
    widget = open_widget(page, home_url, f"?at={SCORES}&head=1")
    action(widget, "step").click()
    widget.locator(".debugger__choices select").last.select_option("scale")
    captions = widget.locator("figcaption").all_text_contents()
    page.locator(".debugger__bar button:not([data-action])").click()
    assert "off=scale" in page.evaluate("navigator.clipboard.readText()")
    expect_address(page, "off=scale")
    page.reload()
    expect(widget.locator("figcaption")).to_have_text(captions)
    other_language = page.locator(".md-select__link").last
    expect(other_language).to_have_attribute("href", re.compile("off=scale"))


def test_two_sentences_are_compared(page, home_url, language):
    widget = open_widget(page, home_url, f"?at={SCORES}")
    notes = {"en": ["first sentence", "second sentence"], "zh": ["第一句", "第二句"]}[language]
    compare, second = widget.locator("label select").last, widget.locator("[name=second]")
    captions, status = (
        widget.locator("figcaption"),
        widget.locator(".debugger__second [role=status]"),
    )
    expect(second).to_be_hidden()
    compare.press("ArrowDown")
    expect(compare).to_have_value("sentence")
    expect(captions).to_have_count(3)  # five words each
    expect_address(page, "with=why+do+you+work")
    second.fill("we work")
    second.press("Enter")
    expect(captions).to_contain_text([f"scores {note}" for note in notes])
    expect(status).to_contain_text("we work → 我们工作")
    expect_address(page, "with=we+work")
    label = widget.locator("figure > canvas").last.get_attribute("aria-label") or ""
    widget.locator("figure > canvas").last.press("ArrowRight")
    expect(widget.locator(".debugger__readout").nth(1)).to_contain_text("[0, 0, 0 we, 0 we]")
    compare.select_option("")
    expect(second).to_be_hidden()
    page.wait_for_function("() => !location.search.includes('with=')")
    widget = open_widget(page, home_url, f"?s=we work&at={SCORES}")  # alone, the same numbers
    expected = label.replace(f"scores {notes[1]}", "scores", 1)
    expect(widget.locator("canvas").first).to_have_attribute("aria-label", expected)


def test_a_number_is_shown_under_the_pointer_and_by_keyboard(page, home_url):
    widget = open_widget(page, home_url, f"?at={SCORES}")
    canvas, readout = widget.locator("canvas").first, widget.locator(".debugger__readout").first
    value = r"scores\[0, 0, {}, {}\] = −?\d"
    canvas.hover(position={"x": 60, "y": 30})
    expect(readout).to_have_text(re.compile(value.format("0 why", "0 why")))
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        canvas.press(key)
    expect(readout).to_have_text(re.compile(value.format("1 do", "[12] (do|we)")))
    expect(canvas).to_have_attribute("aria-label", re.compile("scores .batch 1, head 4, m 5, m 5"))
    expect(widget.locator(".debugger__live")).to_contain_text("scores (batch 1")
    page.keyboard.press("Escape")
    expect(action(widget, "step")).to_be_focused()
    canvas.click(position={"x": 60, "y": 80})  # selects the row, and still shows the number
    token = widget.locator(".debugger__choices select").nth(1)
    expect(token).not_to_have_value("0")
    selected = f"{token.input_value()} (do|we|work)"
    expect(readout).to_have_text(re.compile(value.format(selected, "0 why")))


@wide_only
def test_another_sentence_and_a_translation_of_ones_own(page, home_url):
    widget = open_widget(page, home_url, "?at=Transformer.forward:return")
    output = widget.locator(".debugger__status")
    widget.locator(".debugger__chips button").nth(1).click()
    expect(output).to_have_text("tom is not selling vegetables → 汤姆没在卖蔬菜")
    assert current_line(widget) == line_number("return self.logits(")
    run_sentence(widget, "we work", "你们工作")
    expect(output).to_have_text("we work → 你们工作")
    expect_address(page, "to=你们工作")
    run_sentence(widget, "we wurk <img src=x onerror=alert(1)>")
    expect(output).to_contain_text("does not know wurk")
    expect(output.locator("img")).to_have_count(0)
    run_sentence(widget, "")
    expect(output).to_contain_text("Write a sentence first")


@wide_only
def test_an_address_cannot_do_harm_and_the_diagram_waits_for_a_run(page, home_url):
    query = "?s=<img%20src=x%20onerror=alert(1)>&at=<b>&head=99&source=-1&off=__proto__&to=<i>"
    page.goto(f"{home_url}step-through/{query}")
    widget, diagram = page.locator(WIDGET), page.locator(".debugger__diagram")
    expect(widget.locator(".debugger__status")).to_contain_text("does not know")
    assert widget.locator("img, i").count() == 0
    expect(diagram).to_have_attribute("inert", "")
    run_sentence(widget, "we work")
    expect(shown_values(widget)).to_be_visible()
    expect(diagram).not_to_have_attribute("inert", "")


@wide_only
def test_after_a_failure_the_pictures_are_shown_until_a_second_try(page, home_url):
    page.route("**/model_program.json", lambda route: route.fulfill(body="{"), times=1)
    widget = open_unstarted(page, home_url)
    start_button(widget).click()
    expect(widget.locator(".debugger__status")).to_contain_text("could not be fetched or run")
    expect(widget.locator("svg:visible")).to_have_count(len(load_tour()))
    widget.locator(".debugger__status button").click()
    expect(widget.locator(".debugger__tensors figure").first).to_be_visible()


def test_comparisons_are_accessible_and_not_too_wide(page, home_url):
    for comparison in ("off=scale", "with=we work"):
        open_widget(page, home_url, f"?at={SCORES}&{comparison}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert_no_errors(axe_errors(page, WIDGET))
