"""The widget that shows the attention heads of the translator for a sentence of the reader."""

import re

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

import corpus
from batching import example_of
from bookbuild.generated.cross_attention import forward_with_attention
from bookbuild.generated.javascript_model import load_trained_translator
from browser_pages import check_accessibility

WIDGET = "heads"
WEIGHTS_URL_PATTERN = "**/*-float16.safetensors"
SENTENCE = "tom is not selling vegetables"
CHINESE_SENTENCE = "汤姆没在卖蔬菜"
CHINESE_EXAMPLE = "我们为什么工作？"

wide_only = pytest.mark.parametrize("width", [1280])


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


def model_weights(source: list[str], target: list[str]) -> torch.Tensor:
    """PyTorch's weights of each head, with weights of 16 bits: (head, token, word)."""
    translator = load_trained_translator(rounded=True)
    src, tgt = example_of(translator, corpus.Pair(source, target, ""))
    _, weights = forward_with_attention(translator.model, src[None], tgt[None, :-1])
    return torch.cat(weights).flatten(0, 1)


@wide_only
@pytest.mark.parametrize("language", ["en"])
@pytest.mark.parametrize(
    ("sentence", "chinese"),
    [(SENTENCE, CHINESE_SENTENCE), ("three hundred and forty-two", "三百四十二")],
)
def test_every_shown_weight_equals_that_of_the_model(widget, sentence, chinese):
    submit_sentence(widget, sentence)
    expect(translation_output(widget)).to_have_text(chinese)
    words = corpus.english_tokens(sentence)
    heads = widget.locator("fieldset input").all()
    for head, weights in zip(heads, model_weights(words, list(chinese)), strict=True):
        head.check(force=True)
        torch.testing.assert_close(shown_weights(widget), weights, rtol=0, atol=1e-4)
        mean = 100 * weights.max(dim=-1).values.mean().item()
        label = head.locator("xpath=..").inner_text()
        assert int(re.findall(r"(\d+)%", label)[0]) == pytest.approx(mean, abs=0.51)
    assert widget.locator("th[scope=col]").all_inner_texts() == words
    assert widget.locator("th[scope=row]").all_inner_texts() == [*chinese, "<eos>"]


def test_the_first_sentence_replaces_the_picture_and_each_cell_is_described(checked_page, widget):
    requested_urls: list[str] = []
    checked_page.on("request", lambda request: requested_urls.append(request.url))
    expect(widget.locator(".figure svg")).to_be_visible()
    widget.locator("[name=sentence]").press("Enter")  # with the sentence of the picture
    expect(translation_output(widget)).to_have_text(CHINESE_EXAMPLE)
    expect(widget.locator(".figure svg")).to_have_count(0)
    expect(widget.locator("fieldset").last.locator("input").first).to_be_checked()
    submit_sentence(widget, SENTENCE)
    expect(translation_output(widget)).to_have_text(CHINESE_SENTENCE)
    assert [url.rsplit("/")[-1] for url in requested_urls] == ["translator-float16.safetensors"]
    weights, words = shown_weights(widget), SENTENCE.split()
    rows = widget.locator(".heads__large tbody tr")
    for row, token in enumerate([*CHINESE_SENTENCE, "<eos>"]):
        column = row % len(words)
        rows.nth(row).locator("input").nth(column).press("Space")
        line = widget.locator(".heads__explanation").inner_text()
        strongest = words[weights[row].argmax()]
        assert all(part in line for part in (token, words[column], strongest))
        share = 100 * weights[row, column].item()
        assert float(re.findall(r"([\d.]+)%", line)[0]) == pytest.approx(share, abs=0.051)
    check_accessibility(checked_page, f"[data-widget={WIDGET}]")


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


def test_a_failed_download_is_reported_and_can_be_retried(page: Page, home_url):
    page.goto(f"{home_url}learned/", wait_until="domcontentloaded")
    page.route(WEIGHTS_URL_PATTERN, lambda route: route.abort())
    widget = page.locator(f"[data-widget={WIDGET}]")
    widget.scroll_into_view_if_needed()
    widget.locator("[type=submit]").click()
    expect(translation_output(widget)).to_have_text(re.compile("try again|重试"))
    page.unroute(WEIGHTS_URL_PATTERN)
    widget.locator("[type=submit]").click()
    expect(translation_output(widget)).to_have_text(CHINESE_EXAMPLE)
