"""The live translator as readers use it: wide in English, narrow in Chinese."""

import functools
import gzip
import json
import re
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

import translator
from bookbuild.generated.cross_attention import trace_translation
from browser_pages import RECORD_SHIFTS_SCRIPT, check_accessibility, expand_page, wait_until_idle
from built_pages import ROOT
from decode import beam_search
from figures.diagram import ENGLISH

WIDGET = "translator"
TRANSLATOR = translator.load_translator(ROOT / "snippets/translator.safetensors")
WIDGET_MODULES = ("common", "translator", "translator-field", "translator-texts")
SHORT_SENTENCE = " ".join(ENGLISH)
LONG_SENTENCE = "i will not go to the office next monday because my mother is ill"
MESSAGES = {
    "en": {"unknown": "470 words", "empty": "Write a sentence", "long": "65 words"},
    "zh": {"unknown": "470 个词", "empty": "先写一句", "long": "65 个词"},
}


@functools.cache
def reference_translation(sentence: str) -> tuple[list[str], torch.Tensor]:
    """The tokens of its translation and (layer, head, token, word) weights, from PyTorch."""
    return trace_translation(sentence.split())


@pytest.fixture
def widget(checked_page: Page, open_widget) -> Locator:
    """The translator of the home page before its first use, without animations."""
    checked_page.emulate_media(reduced_motion="reduce")
    return open_widget(WIDGET)


def sentence_field(widget: Locator) -> Locator:
    return widget.get_by_role("combobox").first


def translation_output(widget: Locator) -> Locator:
    return widget.locator(".output")


def translate(widget: Locator, sentence: str) -> None:
    sentence_field(widget).fill(sentence)
    sentence_field(widget).press("Enter")


def check_translation(widget: Locator, sentence: str) -> None:
    """The widget shows the whole sentence and its whole translation."""
    tokens, _ = reference_translation(sentence)
    expect(translation_output(widget).locator("b")).to_have_text("".join(tokens[:-1]))
    expect(widget.locator("svg .word")).to_have_text(sentence.split())
    expect(widget.locator("svg .token")).to_have_text(tokens)


def check_lines(
    widget: Locator, weights: torch.Tensor, lines: str = ".lines:not(.past) path"
) -> None:
    """The lines have the widths of these weights, (token, word)."""
    shown = widget.locator(lines).evaluate_all(
        "all => all.map((each) => parseFloat(getComputedStyle(each).strokeWidth))"
    )
    expected = [0.5 + 5 * weight for weight in weights.flatten().tolist() if weight >= 0.02]
    assert shown == pytest.approx(expected, abs=0.02)


# Before first use


def test_the_example_is_shown_without_javascript(no_javascript_page, home_url):
    no_javascript_page.goto(home_url)
    widget = no_javascript_page.locator(f"[data-widget={WIDGET}]")
    expect(widget.locator("svg")).to_be_visible()
    tokens, _ = reference_translation(SHORT_SENTENCE)
    expect(widget.locator("svg text")).to_have_text([*ENGLISH, *tokens])
    expect(widget.locator("input")).to_have_count(0)


def test_the_live_result_equals_the_example(widget):
    weights = reference_translation(SHORT_SENTENCE)[1][-1].mean(dim=0)
    check_lines(widget, weights, ".stage svg path")
    sentence_field(widget).press("Enter")
    check_translation(widget, SHORT_SENTENCE)
    check_lines(widget, weights)


def test_before_first_use_nothing_is_fetched_or_shifted_and_the_page_is_15_kilobytes_larger(
    checked_page: Page, open_widget, site: Path
):
    checked_page.add_init_script(RECORD_SHIFTS_SCRIPT)
    requested_urls: list[str] = []
    checked_page.on("request", lambda request: requested_urls.append(request.url))
    open_widget(WIDGET)
    wait_until_idle(checked_page)
    assert checked_page.evaluate("window.shift") <= 0.01
    expand_page(checked_page)
    wait_until_idle(checked_page)
    assert not [url for url in requested_urls if "/downloads/" in url]
    modules = {Path(url).stem for url in requested_urls if "/widgets/" in url}
    assert modules == set(WIDGET_MODULES)
    files = [f"widgets/{name}.js" for name in WIDGET_MODULES] + ["widgets.css"]
    sizes = [len(gzip.compress((site / "assets" / name).read_bytes())) for name in files]
    assert sum(sizes) <= 15_000


# Sentences


def test_words_are_completed_with_the_keyboard_and_translated(widget):
    field, option = sentence_field(widget), widget.locator("[role=listbox] [role=option]")
    field.fill("")
    expect(translation_output(widget).locator("progress")).to_have_count(0)
    field.press_sequentially("sh")
    expect(option).to_have_text(["shanghai", "she", "shirt", "shirts", "should"])
    field.press("Escape")
    expect(widget.get_by_role("listbox")).to_be_hidden()
    field.press_sequentially("i")
    expect(option).to_have_text(["shirt", "shirts"])
    for key in ("Backspace", "ArrowDown", "ArrowDown"):
        field.press(key)
    expect(option.nth(1)).to_have_attribute("aria-selected", "true")
    field.press("Enter")
    expect(field).to_have_value("she ")
    field.press_sequentially("li")
    widget.get_by_role("option", name="likes").click()
    expect(field).to_be_focused()
    field.press_sequentially("swimming")
    field.press("Enter")
    check_translation(widget, "she likes swimming")


def test_offered_sentences_are_translated_and_graded_also_offline(widget, checked_page, site):
    grammar = json.loads((site / "downloads/sentences.json").read_text(encoding="utf-8"))
    output, field = translation_output(widget), sentence_field(widget)
    for chip in widget.locator(".chips .chip").all():
        chip.click()
        check_translation(widget, chip.text_content() or "")
    seen = set()
    for _ in range(4):
        widget.locator(".another").click()
        expect(output.locator(".note")).to_be_visible()
        checked_page.context.set_offline(True)  # the weights are loaded
        sentence = field.input_value()
        check_translation(widget, sentence)
        is_right = output.locator("b").inner_text() == grammar[sentence]
        assert not (is_right and re.search("wrong|译错", output.text_content() or ""))
        seen.add(sentence)
    assert len(seen) == 4


def test_beam_search_equals_beam_search_in_pytorch(widget):
    widget.get_by_role("combobox").last.select_option(index=1)
    translate(widget, LONG_SENTENCE)
    src = torch.tensor([TRANSLATOR.source.encode(LONG_SENTENCE.split())])
    ids = beam_search(TRANSLATOR.model, src, 60, 1, 2)[0].tolist()
    translation = "".join(TRANSLATOR.target.decode(ids))
    expect(translation_output(widget).locator("b")).to_have_text(translation)


# Errors


def test_sentences_that_cannot_be_translated_are_explained(widget, language):
    output, messages = translation_output(widget), MESSAGES[language]
    for sentence, what in (("", "empty"), ("we " * 65, "long"), (" . ", "empty")):
        translate(widget, sentence)
        expect(output).to_contain_text(messages[what])
    hostile = "<img src=x onerror=alert(1)> <bos> <script>"
    translate(widget, hostile)
    expect(output.locator("mark")).to_have_text(hostile.split())
    assert widget.locator("img, script").count() == 0
    translate(widget, "she drank cofee yesterday")
    expect(output.locator("mark")).to_have_text(["cofee"])
    expect(output).to_contain_text(messages["unknown"])
    output.get_by_role("button", name="coffee").click()
    check_translation(widget, "she drank coffee yesterday")


def test_missing_weights_are_reported_and_can_be_requested_again(page: Page, home_url):
    page.emulate_media(reduced_motion="reduce")
    page.route("**/*.safetensors", lambda route: route.abort())
    page.goto(home_url)
    widget = page.locator(f"[data-widget={WIDGET}]")
    widget.scroll_into_view_if_needed()
    widget.locator(".go").click()
    again = translation_output(widget).get_by_role("button", name=re.compile("Try again|再试一次"))
    expect(again).to_be_visible()
    page.unroute("**/*.safetensors")
    again.click()
    check_translation(widget, SHORT_SENTENCE)


# Step by step


def test_each_step_shows_its_attention_and_the_most_probable_tokens(widget):
    translate(widget, LONG_SENTENCE)
    check_translation(widget, LONG_SENTENCE)
    tokens, weights = reference_translation(LONG_SENTENCE)
    tgt = torch.tensor([[1, *TRANSLATOR.target.encode(tokens[:-1])]])
    src = torch.tensor([TRANSLATOR.source.encode(LONG_SENTENCE.split())])
    with torch.no_grad():
        logits = TRANSLATOR.model(src, tgt)[0]
    logits[:, 0] = -torch.inf
    probabilities = logits.softmax(dim=-1)
    bars, explanation = widget.locator(".bars li"), widget.locator(".explanation")
    for step in (len(tokens), 1):
        widget.get_by_role("slider").fill(str(step))
        expect(widget.locator("svg .token")).to_have_text(tokens[:step])
        token = tokens[step - 1]
        expect(widget.locator("svg .chosen")).to_have_text(token)
        row = weights[-1, :, step - 1].mean(dim=0)
        check_lines(widget, row)
        expect(explanation).to_contain_text(token)
        expect(explanation).to_contain_text(f"{row.max():.1%}")
        expect(bars.first).to_have_text(f"{token}{probabilities[step - 1].max():.1%}")
        expect(bars).to_have_count(5)


def test_each_layer_and_head_shows_its_own_weights(widget):
    translate(widget, SHORT_SENTENCE)
    check_translation(widget, SHORT_SENTENCE)
    _, weights = reference_translation(SHORT_SENTENCE)
    _, layer, head, _ = widget.get_by_role("combobox").all()
    for i in range(weights.shape[0]):
        layer.select_option(index=i)
        for j in range(weights.shape[1]):
            head.select_option(index=j + 1)
            check_lines(widget, weights[i, j])
    assert layer.locator("option").count() == weights.shape[0]
    assert head.locator("option").count() == weights.shape[1] + 1


def test_the_steps_work_with_the_keyboard_and_the_mouse(widget, checked_page):
    press = checked_page.keyboard.press
    slider, tokens = widget.get_by_role("slider"), widget.locator("svg .token")
    translate(widget, SHORT_SENTENCE)
    check_translation(widget, SHORT_SENTENCE)
    for _ in range(8):  # the button, five chips, the step back, the slider
        press("Tab")
    expect(slider).to_be_focused()
    press("Home")
    expect(tokens).to_have_count(1)
    press("Tab")
    press("Enter")
    expect(tokens).to_have_count(2)
    press("Tab")
    press("ArrowUp")
    expect(widget.locator(".choices select").first).to_have_value("0")
    back, forward = widget.locator(".steps button").all()
    back.click()
    expect(tokens).to_have_count(1)
    forward.click()
    tokens.first.click()
    expect(slider).to_have_value("1")


# Before and after


def test_the_translation_appears_by_character_unless_motion_is_reduced(widget, checked_page):
    field = sentence_field(widget)
    checked_page.evaluate(
        """() => { window.counts = new Set();
        new MutationObserver(() => {
          window.counts.add(document.querySelectorAll("svg .token").length);
        }).observe(document.querySelector(".stage"), { childList: true }); }"""
    )
    field.press("Enter")
    checked_page.wait_for_function("() => counts.size > 0")
    assert checked_page.evaluate("[...counts]") == [9]
    checked_page.emulate_media(reduced_motion="no-preference")
    field.press("Enter")
    checked_page.wait_for_function("() => counts.has(1) && counts.has(5)")
    expect(widget.locator("svg .token")).to_have_count(9)


def test_errors_results_and_the_list_of_words_are_accessible(widget, checked_page):
    translate(widget, "she drinks cofee")
    expect(translation_output(widget).locator("mark")).to_be_visible()
    check_accessibility(checked_page, f"[data-widget={WIDGET}]")
    translate(widget, "we " * 64)  # the longest that is
    expect(widget.locator("svg .word")).to_have_count(64)
    sentence_field(widget).fill("s")
    expect(widget.get_by_role("listbox")).to_be_visible()
    check_accessibility(checked_page, f"[data-widget={WIDGET}]")
