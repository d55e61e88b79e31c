"""The widget of the chapter on what was learned: the translator's heads on one's own sentence."""

import re

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, Route, expect

import corpus
import train
import transformer
import translator
from bookbuild.pages import paths
from browser_pages import LANGUAGE_AT, wait_for_route
from built_pages import assert_no_errors
from decode import evaluating

WIDGET = "[data-widget=heads]"
WEIGHTS = "**/*-float16.safetensors"
SENTENCE = "tom is not selling vegetables"
CHINESE = "汤姆没在卖蔬菜"

english = pytest.mark.parametrize("language", ["en"])
wide = pytest.mark.parametrize("width", [1280])


@pytest.fixture
def language(width: int) -> str:
    return LANGUAGE_AT[width]


@pytest.fixture
def widget(reader: Page, home: str) -> Locator:
    """The widget before it is asked for anything."""
    reader.goto(f"{home}learned/", wait_until="domcontentloaded")
    widget = reader.locator(WIDGET)
    widget.scroll_into_view_if_needed()
    expect(widget.locator("form")).to_be_visible()
    return widget


def ask(widget: Locator, sentence: str) -> None:
    widget.locator("[name=sentence]").fill(sentence)
    widget.locator("[type=submit]").click()


def output_of(widget: Locator) -> Locator:
    return widget.locator(".heads__said")


def shown_weights(widget: Locator) -> torch.Tensor:
    """The weights of the enlarged head: (token, word)."""
    rows = widget.locator(".heads__large tbody").evaluate(
        """(body) => [...body.rows].map((row) => [...row.querySelectorAll("span")]
          .map((each) => Number(each.style.getPropertyValue("--share"))))"""
    )
    return torch.tensor(rows)


@pytest.fixture(scope="module")
def trained() -> translator.Translator:
    """The published translator, its weights rounded to 16 bits as the browser's are."""
    found = translator.load_translator(paths.SNIPPETS / "translator.safetensors")
    with torch.no_grad():
        for weights in found.model.parameters():
            weights.copy_(weights.half())
    return found


def cross_attention_weights(
    trained, source: list[str], target: list[str], monkeypatch
) -> list[torch.Tensor]:
    """PyTorch's weights of each layer's cross-attention: (head, token, word)."""
    seen = []

    def watched(*given):
        output, weights = transformer.scaled_dot_product_attention(*given)
        seen.append(weights)
        return output, weights

    src, tgt = train.example_of(trained, corpus.Pair(source, target, ""))
    monkeypatch.setattr(transformer, "fused_attention", watched)
    with evaluating(trained.model):
        trained.model(src[None], tgt[None, :-1])
    layers = len(trained.model.encoder.layers)
    return [weights[0] for weights in seen[layers + 1 :: 2]]


@wide
@english
@pytest.mark.parametrize(
    ("sentence", "chinese"),
    [
        ("Why do we work?", "我们为什么工作？"),
        (SENTENCE, CHINESE),
        ("three hundred and forty-two thousand and five", "三十四万二千零五"),
    ],
)
def test_every_weight_is_the_models(widget, trained, sentence, chinese, monkeypatch):
    ask(widget, sentence)
    expect(output_of(widget)).to_have_text(chinese)
    words = corpus.english_tokens(sentence)
    expected = cross_attention_weights(trained, words, list(chinese), monkeypatch)
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


def test_each_cell_is_described_in_words(reader, widget, language):
    ask(widget, SENTENCE)
    expect(output_of(widget)).to_have_text(CHINESE)
    weights = shown_weights(widget)
    rows = widget.locator(".heads__large tbody tr")
    for row, token in enumerate([*CHINESE, "<eos>"]):
        for column, word in list(enumerate(SENTENCE.split()))[:: 1 + row % 2]:
            radio = rows.nth(row).locator("input").nth(column)
            radio.focus()
            reader.keyboard.press("Space")
            line = widget.locator(".heads__explanation").inner_text()
            share = f"{100 * weights[row, column]:.1f}%"
            assert token in line and word in line
            assert float(re.findall(r"([\d.]+)%", line)[0]) == pytest.approx(
                100 * weights[row, column].item(), abs=0.051
            ), share
            best = SENTENCE.split()[weights[row].argmax()]
            assert best in line


@wide
@english
def test_the_first_look_begins_with_the_pictures_sentence(widget, trained, monkeypatch):
    """The picture shows the last layer on this sentence; the live one starts there."""
    expect(widget.locator(".figure svg")).to_be_visible()
    widget.locator("[type=submit]").click()
    expect(output_of(widget)).to_have_text("我们为什么工作？")
    expect(widget.locator(".figure svg")).to_have_count(0)
    last = widget.locator("fieldset").last.locator("input").first
    expect(last).to_be_checked()
    words = ["why", "do", "we", "work", "?"]
    expected = cross_attention_weights(trained, words, list("我们为什么工作？"), monkeypatch)
    torch.testing.assert_close(shown_weights(widget), expected[-1][0], rtol=0, atol=1e-4)


@wide
@english
def test_the_weights_are_fetched_at_first_use_and_once(reader, widget):
    asked: list[str] = []
    reader.on("request", lambda request: asked.append(request.url))
    for sentence in (SENTENCE, "why do we work ?"):
        ask(widget, sentence)
        expect(widget.locator("th[scope=col]")).to_have_text(sentence.split())
    assert [url.rsplit("/")[-1] for url in asked] == ["translator-float16.safetensors"]


@wide
def test_what_cannot_be_translated_is_reported_and_the_picture_stays(widget, language):
    for sentence, hint in (
        ("   ", {"en": "Write a sentence", "zh": "先写一句话"}),
        ("why do llamas <img src=x onerror=alert(1)>", {"en": "llamas", "zh": "llamas"}),
        ("why do we wark ?", {"en": "wark (near it: work", "zh": "wark（相近的有 work"}),
        ("we " * 65, {"en": "64 words", "zh": "64 个词"}),
    ):
        ask(widget, sentence)
        expect(output_of(widget)).to_contain_text(hint[language])
        expect(widget.locator(".figure svg")).to_be_visible()
    expect(widget.locator("img")).to_have_count(0)
    ask(widget, SENTENCE)
    expect(output_of(widget)).to_have_text(CHINESE)


def test_a_failure_is_reported_and_can_be_tried_again(page: Page, home):
    page.goto(f"{home}learned/", wait_until="domcontentloaded")
    widget = page.locator(WIDGET)
    widget.scroll_into_view_if_needed()
    page.route(WEIGHTS, lambda route: route.abort())
    widget.locator("[type=submit]").click()
    expect(output_of(widget)).to_have_text(re.compile("try again|重试"))
    page.unroute(WEIGHTS)
    widget.locator("[type=submit]").click()
    expect(output_of(widget)).to_have_text("我们为什么工作？")


@english
def test_the_keyboard_does_everything(reader, widget):
    widget.locator("[name=sentence]").focus()
    reader.keyboard.press("Enter")
    expect(output_of(widget)).to_have_text("我们为什么工作？")
    chosen = widget.locator("fieldset input:checked")
    chosen.focus()
    before = shown_weights(widget)
    reader.keyboard.press("ArrowLeft")  # to the last head of the layer above
    assert not torch.equal(shown_weights(widget), before)
    cell = widget.locator(".heads__large input:checked")
    cell.focus()
    label = cell.get_attribute("aria-label")
    for key in ("ArrowDown", "ArrowRight"):
        reader.keyboard.press(key)
        focused = reader.locator(":focus")
        expect(focused).to_be_checked()
        assert focused.get_attribute("aria-label") != label
        label = focused.get_attribute("aria-label")
    assert label in [each.get_attribute("aria-label") for each in widget.locator(":checked").all()]


SHIFTS = """() => new Promise((tell) => {
  let sum = 0;
  new PerformanceObserver((list) => list.getEntries()
    .forEach((each) => (sum += each.hadRecentInput ? 0 : each.value)))
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => tell(sum), 200);
})"""


def test_nothing_moves_but_on_the_readers_word(reader, home):
    held: list[Route] = []
    reader.route("**/widgets/heads.js", lambda route: held.append(route))
    reader.goto(f"{home}learned/", wait_until="domcontentloaded")
    widget = reader.locator(WIDGET)
    with reader.expect_request("**/widgets/heads.js"):
        widget.evaluate("each => each.scrollIntoView()")
    before, height = reader.evaluate(SHIFTS), widget.bounding_box()["height"]
    wait_for_route(reader, held).continue_()
    expect(widget.locator("form")).to_be_visible()
    assert reader.evaluate(SHIFTS) - before <= 0.01
    assert abs(widget.bounding_box()["height"] - height) < 4
    widget.locator("[type=submit]").click()
    expect(output_of(widget)).to_have_text("我们为什么工作？")
    assert reader.evaluate(SHIFTS) - before <= 0.01


def test_all_that_is_touched_is_large_enough(widget):
    ask(widget, SENTENCE)
    expect(output_of(widget)).to_have_text(CHINESE)
    sizes = widget.locator("input, button").evaluate_all(
        "all => all.map((each) => each.getBoundingClientRect()).map((b) => [b.width, b.height])"
    )
    assert len(sizes) == 1 + 1 + 4 + 8 + 5 * 8
    assert min(map(min, sizes)) >= 24


def test_axe_finds_nothing_in_either_scheme(reader, widget):
    ask(widget, SENTENCE)
    expect(output_of(widget)).to_have_text(CHINESE)
    for scheme in ("light", "dark"):
        reader.emulate_media(color_scheme=scheme)
        found = Axe().run(reader, context=WIDGET).response["violations"]
        assert_no_errors(f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found)
