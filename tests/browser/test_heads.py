"""The widget that shows the attention heads of the translator for a sentence of the reader."""

import re

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

import corpus
import transformer
import translator
from batching import example_of
from bookbuild.pages import paths
from browser_pages import axe_errors
from built_pages import assert_no_errors
from decode import eval_mode

WIDGET = "[data-widget=heads]"
WEIGHTS_URL_PATTERN = "**/*-float16.safetensors"
SENTENCE = "tom is not selling vegetables"
CHINESE_SENTENCE = "汤姆没在卖蔬菜"

english_only = pytest.mark.parametrize("language", ["en"])
wide_only = pytest.mark.parametrize("width", [1280])


@pytest.fixture
def widget(checked_page: Page, home_url: str) -> Locator:
    """The widget before its first use."""
    checked_page.goto(f"{home_url}learned/", wait_until="domcontentloaded")
    widget = checked_page.locator(WIDGET)
    widget.scroll_into_view_if_needed()
    expect(widget.locator("form")).to_be_visible()
    return widget


def submit_sentence(widget: Locator, sentence: str) -> None:
    widget.locator("[name=sentence]").fill(sentence)
    widget.locator("[type=submit]").click()


def translation_output(widget: Locator) -> Locator:
    return widget.locator(".heads__said")


def shown_weights(widget: Locator) -> torch.Tensor:
    """The weights of the enlarged head: (token, word)."""
    rows = widget.locator(".heads__large tbody").evaluate(
        """(body) => [...body.rows].map((row) => [...row.querySelectorAll("span")]
          .map((each) => Number(each.style.getPropertyValue("--share"))))"""
    )
    return torch.tensor(rows)


@pytest.fixture(scope="module")
def rounded_translator() -> translator.Translator:
    """The published translator, its weights rounded to 16 bits as the browser's are."""
    found = translator.load_translator(paths.SNIPPETS / "translator.safetensors")
    with torch.no_grad():
        for weights in found.model.parameters():
            weights.copy_(weights.half())
    return found


def cross_attention_weights(
    rounded_translator, source: list[str], target: list[str], monkeypatch
) -> list[torch.Tensor]:
    """PyTorch's weights of each layer's cross-attention: (head, token, word)."""
    recorded_weights = []

    def record_attention(*arguments):
        output, weights = transformer.scaled_dot_product_attention(*arguments)
        recorded_weights.append(weights)
        return output, weights

    src, tgt = example_of(rounded_translator, corpus.Pair(source, target, ""))
    monkeypatch.setattr(transformer, "fused_attention", record_attention)
    with eval_mode(rounded_translator.model):
        rounded_translator.model(src[None], tgt[None, :-1])
    layers = len(rounded_translator.model.encoder.layers)
    return [weights[0] for weights in recorded_weights[layers + 1 :: 2]]


@wide_only
@english_only
@pytest.mark.parametrize(
    ("sentence", "chinese"),
    [(SENTENCE, CHINESE_SENTENCE), ("three hundred and forty-two", "三百四十二")],
)
def test_every_shown_weight_equals_that_of_the_model(
    widget, rounded_translator, sentence, chinese, monkeypatch
):
    submit_sentence(widget, sentence)
    expect(translation_output(widget)).to_have_text(chinese)
    words = corpus.english_tokens(sentence)
    expected = cross_attention_weights(rounded_translator, words, list(chinese), monkeypatch)
    heads = widget.locator("fieldset input")
    expect(heads).to_have_count(sum(map(len, expected)))
    for i, weights in enumerate(each for layer in expected for each in layer):
        heads.nth(i).check(force=True)
        torch.testing.assert_close(shown_weights(widget), weights, rtol=0, atol=1e-4)
        mean = weights.max(dim=-1).values.mean().item()
        label = heads.nth(i).locator("xpath=..").inner_text()
        assert abs(int(re.findall(r"(\d+)%", label)[0]) - 100 * mean) < 0.51
    assert widget.locator("th[scope=col]").all_inner_texts() == words
    assert widget.locator("th[scope=row]").all_inner_texts() == [*chinese, "<eos>"]


def test_each_cell_is_described_in_words_large_enough_and_accessible(
    checked_page, widget, language
):
    requested_urls: list[str] = []
    checked_page.on("request", lambda request: requested_urls.append(request.url))
    expect(widget.locator(".figure svg")).to_be_visible()
    widget.locator("[type=submit]").click()  # with the sentence of the picture
    expect(translation_output(widget)).to_have_text("我们为什么工作？")
    expect(widget.locator(".figure svg")).to_have_count(0)
    expect(widget.locator("fieldset").last.locator("input").first).to_be_checked()
    submit_sentence(widget, SENTENCE)
    expect(translation_output(widget)).to_have_text(CHINESE_SENTENCE)
    assert [url.rsplit("/")[-1] for url in requested_urls] == ["translator-float16.safetensors"]
    weights = shown_weights(widget)
    rows = widget.locator(".heads__large tbody tr")
    for row, token in enumerate([*CHINESE_SENTENCE, "<eos>"]):
        for column, word in list(enumerate(SENTENCE.split()))[row % 2 :: 2]:
            rows.nth(row).locator("input").nth(column).focus()
            checked_page.keyboard.press("Space")
            line = widget.locator(".heads__explanation").inner_text()
            assert (
                token in line and word in line and SENTENCE.split()[weights[row].argmax()] in line
            )
            share = 100 * weights[row, column].item()
            assert float(re.findall(r"([\d.]+)%", line)[0]) == pytest.approx(share, abs=0.051)
    sizes = widget.locator("input, button").evaluate_all(
        "all => all.map((each) => each.getBoundingClientRect()).map((b) => [b.width, b.height])"
    )
    assert len(sizes) == 1 + 1 + 4 + 8 + 5 * 8
    assert min(map(min, sizes)) >= 24
    for scheme in ("light", "dark"):
        checked_page.emulate_media(color_scheme=scheme)
        assert_no_errors(axe_errors(checked_page, WIDGET))


@wide_only
def test_untranslatable_sentences_are_reported_and_the_picture_stays(widget, language):
    for sentence, hint in (
        ("   ", {"en": "Write a sentence", "zh": "先写一句话"}),
        ("why do llamas <img src=x onerror=alert(1)>", {"en": "llamas", "zh": "llamas"}),
        ("why do we wark ?", {"en": "wark (near it: work", "zh": "wark（相近的有 work"}),
        ("we " * 65, {"en": "64 words", "zh": "64 个词"}),
    ):
        submit_sentence(widget, sentence)
        expect(translation_output(widget)).to_contain_text(hint[language])
        expect(widget.locator(".figure svg")).to_be_visible()
    expect(widget.locator("img")).to_have_count(0)
    submit_sentence(widget, SENTENCE)
    expect(translation_output(widget)).to_have_text(CHINESE_SENTENCE)


def test_a_failed_download_is_reported_and_can_be_retried(page: Page, home_url):
    page.goto(f"{home_url}learned/", wait_until="domcontentloaded")
    widget = page.locator(WIDGET)
    widget.scroll_into_view_if_needed()
    page.route(WEIGHTS_URL_PATTERN, lambda route: route.abort())
    widget.locator("[type=submit]").click()
    expect(translation_output(widget)).to_have_text(re.compile("try again|重试"))
    page.unroute(WEIGHTS_URL_PATTERN)
    widget.locator("[type=submit]").click()
    expect(translation_output(widget)).to_have_text("我们为什么工作？")


@english_only
def test_every_control_works_with_the_keyboard(checked_page, widget):
    widget.locator("[name=sentence]").focus()
    checked_page.keyboard.press("Enter")
    expect(translation_output(widget)).to_have_text("我们为什么工作？")
    chosen = widget.locator("fieldset input:checked")
    chosen.focus()
    before = shown_weights(widget)
    checked_page.keyboard.press("ArrowLeft")  # to the last head of the layer above
    assert not torch.equal(shown_weights(widget), before)
    cell = widget.locator(".heads__large input:checked")
    cell.focus()
    label = cell.get_attribute("aria-label")
    for key in ("ArrowDown", "ArrowRight"):
        checked_page.keyboard.press(key)
        focused = checked_page.locator(":focus")
        expect(focused).to_be_checked()
        assert focused.get_attribute("aria-label") != label
        label = focused.get_attribute("aria-label")
    assert label in [each.get_attribute("aria-label") for each in widget.locator(":checked").all()]
