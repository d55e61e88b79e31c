"""The live translator as readers use it: wide in English, narrow in Chinese."""

import functools
import gzip
import json
import re
import runpy
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Browser, Locator, Page, expect

import translator
from browser_pages import RECORD_SHIFTS_SCRIPT, axe_errors, expand_page, wait_until_idle
from built_pages import ROOT, assert_no_errors
from decode import beam_search
from figures.diagram import ENGLISH

TRANSLATOR = translator.load_translator(ROOT / "snippets/translator.safetensors")
LIVE_FIGURE = runpy.run_path(str(ROOT / "scripts/figures/live.py"))
WIDGET_MODULES = ("common", "translator", "translator-field", "translator-texts")
SHORT_SENTENCE = " ".join(ENGLISH)
LONG_SENTENCE = "i will not go to the office next monday because my mother is ill"
ENGLISH_MESSAGES = {"unknown": "470 words", "empty": "Write a sentence", "long": "65 words"}
MESSAGES = {
    "en": ENGLISH_MESSAGES | {"again": "Try again"},
    "zh": {"unknown": "470 个词", "empty": "先写一句", "long": "65 个词", "again": "再试一次"},
}


@pytest.fixture
def scheme(width: int) -> str:
    return {1280: "light", 390: "dark"}[width]


@functools.cache
def reference_translation(sentence: str) -> tuple[list[str], torch.Tensor]:
    """The tokens of its translation and (layer, head, token, word) weights, from PyTorch."""
    return LIVE_FIGURE["trace_translation"](sentence.split())


def chinese_translation(sentence: str) -> str:
    return "".join(reference_translation(sentence)[0][:-1])


@pytest.fixture
def live_translator(checked_page: Page, home_url: str, scheme: str) -> Locator:
    """The translator of the home page before its first use, without animations."""
    checked_page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    checked_page.goto(home_url)
    return wait_until_ready(checked_page)


def wait_until_ready(page: Page) -> Locator:
    widget = page.locator("[data-widget=translator]")
    widget.scroll_into_view_if_needed()
    widget.and_(page.locator(".ready")).wait_for()
    return widget


def sentence_field(live_translator: Locator) -> Locator:
    return live_translator.get_by_role("combobox").first


def translation_output(live_translator: Locator) -> Locator:
    return live_translator.locator(".output")


def translate(live_translator: Locator, sentence: str) -> None:
    sentence_field(live_translator).fill(sentence)
    sentence_field(live_translator).press("Enter")


def check_translation(live_translator: Locator, sentence: str) -> None:
    """The widget shows the whole sentence and its whole translation."""
    tokens, _ = reference_translation(sentence)
    expect(translation_output(live_translator).locator("b")).to_have_text("".join(tokens[:-1]))
    expect(live_translator.locator("svg .word")).to_have_text(sentence.split())
    expect(live_translator.locator("svg .token")).to_have_text(tokens)


def line_widths(live_translator: Locator, which: str = ".lines:not(.past) path") -> list[float]:
    """The widths of the lines, in their order."""
    return live_translator.locator(which).evaluate_all(
        "all => all.map((each) => parseFloat(getComputedStyle(each).strokeWidth))"
    )


def expected_line_widths(rows: torch.Tensor) -> list[float]:
    """The widths that lines of these weights have."""
    return [0.5 + 5 * weight for row in rows.tolist() for weight in row if weight >= 0.02]


# Before first use

# Points on each line, which do not depend on how its path is written.
POINTS_ON_PATHS_SCRIPT = """(all) => all.map((path) => [0, 0.25, 0.5, 0.75, 1].flatMap((share) => {
  const { x, y } = path.getPointAtLength(share * path.getTotalLength());
  return [x, y];
}))"""


def test_the_example_is_shown_without_javascript(browser: Browser, home_url, width):
    context = browser.new_context(
        java_script_enabled=False, viewport={"width": width, "height": 844}
    )
    page = context.new_page()
    page.goto(home_url)
    picture = page.locator("[data-widget=translator] svg")
    expect(picture).to_be_visible()
    output = picture.locator("text").all_text_contents()
    assert output == [*ENGLISH, *reference_translation(SHORT_SENTENCE)[0]]
    assert page.locator("[data-widget=translator] input").count() == 0
    context.close()


def test_the_live_result_equals_the_example(live_translator):
    points = live_translator.locator(".stage svg path").evaluate_all(POINTS_ON_PATHS_SCRIPT)
    widths = line_widths(live_translator, ".stage svg path")
    weights = reference_translation(SHORT_SENTENCE)[1][-1].mean(dim=0)
    assert widths == pytest.approx(expected_line_widths(weights), abs=0.01)
    sentence_field(live_translator).press("Enter")
    check_translation(live_translator, SHORT_SENTENCE)
    again = live_translator.locator(".stage svg path").evaluate_all(POINTS_ON_PATHS_SCRIPT)
    for path, same in zip(again, points, strict=True):
        assert path == pytest.approx(same, abs=0.5)
    assert line_widths(live_translator) == pytest.approx(widths, abs=0.02)


def test_before_first_use_nothing_is_fetched_or_shifted_and_the_page_is_15_kilobytes_larger(
    page: Page, home_url, site: Path, width
):
    page.set_viewport_size({"width": width, "height": 844})
    page.add_init_script(RECORD_SHIFTS_SCRIPT)
    requested_urls: list[str] = []
    page.on("request", lambda request: requested_urls.append(request.url))
    page.goto(f"{home_url}#try")
    wait_until_idle(page)
    wait_until_ready(page)
    assert page.evaluate("window.shift") <= 0.01
    expand_page(page)
    wait_until_idle(page)
    assert not [url for url in requested_urls if "/downloads/" in url]
    modules = {Path(url).stem for url in requested_urls if "/widgets/" in url}
    assert modules == set(WIDGET_MODULES)
    files = [site / f"assets/widgets/{name}.js" for name in WIDGET_MODULES] + [
        site / "assets/widgets.css"
    ]
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) <= 15_000


# Sentences


def test_words_are_completed_with_the_keyboard_and_translated(live_translator):
    field = sentence_field(live_translator)
    field.fill("")
    expect(translation_output(live_translator).locator("progress")).to_have_count(0)
    field.press_sequentially("sh")
    option = live_translator.locator("[role=listbox] [role=option]")
    expect(option).to_have_text(["shanghai", "she", "shirt", "shirts", "should"])
    field.press("Escape")
    expect(live_translator.get_by_role("listbox")).to_be_hidden()
    field.press_sequentially("i")
    expect(option).to_have_text(["shirt", "shirts"])
    for key in ("Backspace", "ArrowDown", "ArrowDown"):
        field.press(key)
    expect(option.nth(1)).to_have_attribute("aria-selected", "true")
    field.press("Enter")
    expect(field).to_have_value("she ")
    field.press_sequentially("li")
    live_translator.get_by_role("option", name="likes").click()
    expect(field).to_be_focused()
    field.press_sequentially("swimming")
    field.press("Enter")
    check_translation(live_translator, "she likes swimming")


def test_offered_sentences_are_translated_and_graded_also_offline(
    live_translator, checked_page, site
):
    grammar = json.loads((site / "downloads/sentences.json").read_text(encoding="utf-8"))
    output = translation_output(live_translator)
    seen = set()
    for chip in live_translator.locator(".chips .chip").all():
        chip.click()
        check_translation(live_translator, chip.text_content() or "")
    for _ in range(4):
        live_translator.locator(".another").click()
        expect(output.locator(".note")).to_be_visible()
        checked_page.context.set_offline(True)  # the weights are loaded
        sentence = sentence_field(live_translator).input_value()
        check_translation(live_translator, sentence)
        is_right = chinese_translation(sentence) == grammar[sentence]
        assert not (is_right and re.search("wrong|译错", output.text_content() or ""))
        seen.add(sentence)
    assert len(seen) == 4


def test_beam_search_equals_beam_search_in_pytorch(live_translator):
    live_translator.get_by_role("combobox").last.select_option(index=1)
    for sentence in (SHORT_SENTENCE, LONG_SENTENCE):
        translate(live_translator, sentence)
        src = torch.tensor([TRANSLATOR.source.encode(sentence.split())])
        ids = beam_search(TRANSLATOR.model, src, 60, 1, 2)[0].tolist()
        expect(translation_output(live_translator).locator("b")).to_have_text(
            "".join(TRANSLATOR.target.decode(ids))
        )


# Errors


def test_sentences_that_cannot_be_translated_are_explained(live_translator, checked_page, language):
    output, messages = translation_output(live_translator), MESSAGES[language]
    for sentence, what in (("", "empty"), ("we " * 65, "long"), (" . ", "empty")):
        translate(live_translator, sentence)
        expect(output).to_contain_text(messages[what])
    hostile = "<img src=x onerror=alert(1)> <bos> <script>"
    translate(live_translator, hostile)
    expect(output.locator("mark")).to_have_text(hostile.split())
    assert live_translator.locator("img, script").count() == 0
    translate(live_translator, "she drank cofee yesterday")
    expect(output.locator("mark")).to_have_text(["cofee"])
    expect(output).to_contain_text(messages["unknown"])
    output.get_by_role("button", name="coffee").click()
    check_translation(live_translator, "she drank coffee yesterday")
    translate(live_translator, "we " * 64)  # the longest that is
    expect(live_translator.locator("svg .word")).to_have_count(64)
    assert checked_page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_missing_weights_are_reported_and_can_be_requested_again(page: Page, home_url, language):
    page.emulate_media(reduced_motion="reduce")
    page.route("**/*.safetensors", lambda route: route.abort())
    page.goto(home_url)
    live_translator = wait_until_ready(page)
    live_translator.locator(".go").click()
    again = translation_output(live_translator).get_by_role(
        "button", name=MESSAGES[language]["again"]
    )
    again.click()
    expect(again).to_be_visible()
    page.unroute("**/*.safetensors")
    again.click()
    check_translation(live_translator, SHORT_SENTENCE)


# Step by step


def test_each_step_shows_its_attention_and_the_most_probable_tokens(live_translator):
    translate(live_translator, LONG_SENTENCE)
    check_translation(live_translator, LONG_SENTENCE)
    tokens, weights = reference_translation(LONG_SENTENCE)
    ids = [1, *TRANSLATOR.target.encode(tokens)]
    src = torch.tensor([TRANSLATOR.source.encode(LONG_SENTENCE.split())])
    with torch.no_grad():
        logits = TRANSLATOR.model(src, torch.tensor([ids[:-1]]))[0]
    logits[:, 0] = -torch.inf
    probabilities = logits.softmax(dim=-1)
    slider, bars = live_translator.get_by_role("slider"), live_translator.locator(".bars li")
    for step in (len(tokens), 1):
        slider.fill(str(step))
        expect(live_translator.locator("svg .token")).to_have_text(tokens[:step])
        token = tokens[step - 1]
        expect(live_translator.locator("svg .chosen")).to_have_text(token)
        row = weights[-1, :, step - 1].mean(dim=0)
        widths = expected_line_widths(row[None])
        assert line_widths(live_translator) == pytest.approx(widths, abs=0.02)
        explanation = live_translator.locator(".explanation").text_content() or ""
        assert token in explanation and f"{row.max():.1%}" in explanation
        assert TRANSLATOR.target.tokens[probabilities[step - 1].argmax()] == token
        assert bars.first.text_content() == f"{token}{probabilities[step - 1].max():.1%}"
        expect(bars).to_have_count(5)


def test_each_layer_and_head_shows_its_own_weights(live_translator):
    translate(live_translator, SHORT_SENTENCE)
    check_translation(live_translator, SHORT_SENTENCE)
    _, weights = reference_translation(SHORT_SENTENCE)
    _, layer, head, _ = live_translator.get_by_role("combobox").all()
    for i in range(weights.shape[0]):
        layer.select_option(index=i)
        for j in range(weights.shape[1]):
            head.select_option(index=j + 1)
            assert line_widths(live_translator) == pytest.approx(
                expected_line_widths(weights[i, j]), abs=0.02
            )
    assert layer.locator("option").count() == weights.shape[0]
    assert head.locator("option").count() == weights.shape[1] + 1


def test_every_control_works_with_the_keyboard_and_the_steps_with_the_mouse(
    live_translator, checked_page
):
    sentence_field(live_translator).focus()
    press = checked_page.keyboard.press
    press("ControlOrMeta+a")
    checked_page.keyboard.type("we sing ?")
    press("Escape")
    press("Enter")
    expect(live_translator.locator("svg .word")).to_have_text(["we", "sing", "?"])
    for _ in range(8):  # the button, five chips, the step back, the slider
        press("Tab")
    slider, tokens = live_translator.get_by_role("slider"), live_translator.locator("svg .token")
    expect(slider).to_be_focused()
    press("Home")
    expect(tokens).to_have_count(1)
    press("Tab")
    press("Enter")
    expect(tokens).to_have_count(2)
    press("Tab")
    press("ArrowUp")
    expect(live_translator.locator(".choices select").first).to_have_value("0")
    back, forward = live_translator.locator(".steps button").all()
    translate(live_translator, SHORT_SENTENCE)
    check_translation(live_translator, SHORT_SENTENCE)
    back.click()
    expect(slider).to_have_value("9")
    tokens.nth(2).click()
    expect(slider).to_have_value("3")
    forward.click()
    expect(tokens).to_have_text(list("我们为什"))


# Before and after


def test_the_translation_appears_by_character_unless_motion_is_reduced(
    live_translator, checked_page
):
    checked_page.emulate_media(reduced_motion="no-preference")
    checked_page.evaluate(
        """() => { window.counts = [];
        new MutationObserver(() => {
          window.counts.push(document.querySelectorAll("svg .token").length);
        }).observe(document.querySelector(".stage"), { childList: true }); }"""
    )
    sentence_field(live_translator).press("Enter")
    checked_page.wait_for_function(
        "() => [1, 5].every((count) => counts.includes(count)) && counts.at(-1) === 9"
    )
    checked_page.emulate_media(reduced_motion="reduce")
    checked_page.evaluate("window.counts = []")
    sentence_field(live_translator).press("Enter")
    checked_page.wait_for_function("() => counts.length > 0")
    assert set(checked_page.evaluate("counts")) == {9}


def test_axe_finds_no_violation_in_any_state(live_translator, checked_page):
    def check_widget() -> None:
        for rules in ([], ["target-size"]):
            assert_no_errors(axe_errors(checked_page, "[data-widget=translator]", rules))

    translate(live_translator, "she drinks cofee")
    expect(translation_output(live_translator).locator("mark")).to_be_visible()
    check_widget()
    live_translator.locator(".chip").first.click()
    check_translation(live_translator, SHORT_SENTENCE)
    sentence_field(live_translator).fill("s")
    expect(live_translator.get_by_role("listbox")).to_be_visible()
    check_widget()
