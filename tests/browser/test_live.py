"""The live translator as readers use it: on a wide page in English, on a narrow one in Chinese."""

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
from browser_pages import axe_errors, open_everything, settle
from built_pages import ROOT, assert_no_errors
from decode import beam_search
from figures.diagram import ENGLISH

KNOWN = translator.load_translator(ROOT / "snippets/translator.safetensors")
LIVE = runpy.run_path(str(ROOT / "scripts/figures/live.py"))
MODULES = ("common", "translator", "translator-field", "translator-texts")
SHORT_SENTENCE = " ".join(ENGLISH)
LONG_SENTENCE = "i will not go to the office next monday because my mother is ill"
WORDS = {
    "en": {
        "unknown": "470 words",
        "empty": "Write a sentence",
        "long": "65 words",
        "again": "Try again",
    },
    "zh": {"unknown": "470 个词", "empty": "先写一句", "long": "65 个词", "again": "再试一次"},
}

WIDE, NARROW = ("en", 1280, "light"), ("zh", 390, "dark")


@pytest.fixture(params=[WIDE, NARROW], ids=["en-wide-light", "zh-narrow-dark"])
def place(request: pytest.FixtureRequest) -> tuple[str, int, str]:
    return request.param


@pytest.fixture
def language(place) -> str:
    return place[0]


@pytest.fixture
def width(place) -> int:
    return place[1]


@pytest.fixture
def scheme(place) -> str:
    return place[2]


@functools.cache
def read(sentence: str) -> tuple[list[str], torch.Tensor]:
    """The tokens of its translation and (layer, head, token, word) weights, by the snippets."""
    return LIVE["trace_translation"](sentence.split())


def chinese(sentence: str) -> str:
    return "".join(read(sentence)[0][:-1])


@pytest.fixture
def live(reader: Page, home: str, scheme: str) -> Locator:
    """The translator of the home page, before first use; nothing moves."""
    reader.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    reader.goto(home)
    return ready(reader)


def ready(page: Page) -> Locator:
    widget = page.locator("[data-widget=translator]")
    widget.scroll_into_view_if_needed()
    widget.and_(page.locator(".ready")).wait_for()
    return widget


def field(live: Locator) -> Locator:
    return live.get_by_role("combobox").first


def output_of(live: Locator) -> Locator:
    return live.locator(".output")


def translate(live: Locator, sentence: str) -> None:
    field(live).fill(sentence)
    field(live).press("Enter")


def check_translation(live: Locator, sentence: str) -> None:
    """The sentence and its translation, whole."""
    tokens, _ = read(sentence)
    expect(output_of(live).locator("b")).to_have_text("".join(tokens[:-1]))
    expect(live.locator("svg .word")).to_have_text(sentence.split())
    expect(live.locator("svg .token")).to_have_text(tokens)


def lines(live: Locator, which: str = ".lines:not(.past) path") -> list[float]:
    """The widths of the lines, in their order."""
    return live.locator(which).evaluate_all(
        "all => all.map((each) => parseFloat(getComputedStyle(each).strokeWidth))"
    )


def widths(rows: torch.Tensor) -> list[float]:
    """The widths that lines of these weights have."""
    return [0.5 + 5 * weight for row in rows.tolist() for weight in row if weight >= 0.02]


# Before first use

# Where lines lead, however their paths are written.
POINTS_ON_PATHS = """(all) => all.map((path) => [0, 0.25, 0.5, 0.75, 1].flatMap((share) => {
  const { x, y } = path.getPointAtLength(share * path.getTotalLength());
  return [x, y];
}))"""


def test_the_example_is_there_without_scripts(browser: Browser, home, width):
    context = browser.new_context(
        java_script_enabled=False, viewport={"width": width, "height": 844}
    )
    page = context.new_page()
    page.goto(home)
    picture = page.locator("[data-widget=translator] svg")
    expect(picture).to_be_visible()
    output = picture.locator("text").all_text_contents()
    assert output == [*ENGLISH, *read(SHORT_SENTENCE)[0]]
    assert page.locator("[data-widget=translator] input").count() == 0
    context.close()


def test_the_live_result_equals_the_example(live):
    still = live.locator(".stage svg path").evaluate_all(POINTS_ON_PATHS)
    thickness = lines(live, ".stage svg path")
    box = live.locator(".stage svg").bounding_box()
    field(live).press("Enter")
    check_translation(live, SHORT_SENTENCE)
    again = live.locator(".stage svg path").evaluate_all(POINTS_ON_PATHS)
    for path, same in zip(again, still, strict=True):
        assert path == pytest.approx(same, abs=0.5)
    assert lines(live) == pytest.approx(thickness, abs=0.02)
    assert thickness == pytest.approx(widths(read(SHORT_SENTENCE)[1][-1].mean(dim=0)), abs=0.01)
    assert live.locator(".stage svg").bounding_box() == pytest.approx(box, abs=3)


def test_nothing_is_fetched_before_first_use_and_the_page_grows_by_at_most_15_kilobytes(
    page: Page, home, site: Path
):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(home)
    settle(page)
    ready(page)
    open_everything(page)
    settle(page)
    assert not [url for url in asked if "/downloads/" in url]
    modules = {Path(url).stem for url in asked if "/widgets/" in url}
    assert modules == {*MODULES, "offline"}
    files = [site / f"assets/widgets/{name}.js" for name in MODULES] + [site / "assets/widgets.css"]
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) <= 15_000


def test_nothing_moves_when_the_script_comes(page: Page, home, width):
    page.set_viewport_size({"width": width, "height": 844})
    page.add_init_script(
        """window.shift = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) window.shift += entry.value;
        }).observe({ type: "layout-shift", buffered: true });"""
    )
    page.goto(f"{home}#try")
    settle(page)
    ready(page)
    assert page.evaluate("window.shift") <= 0.01


# Sentences


def test_what_is_typed_is_translated_with_words_completed_by_the_keyboard(live, reader):
    field(live).fill("")
    expect(output_of(live).locator("progress")).to_have_count(0)
    field(live).press_sequentially("sh")
    option = live.locator("[role=listbox] [role=option]")
    expect(option).to_have_text(["shanghai", "she", "shirt", "shirts", "should"])
    field(live).press("Escape")
    expect(live.get_by_role("listbox")).to_be_hidden()
    expect(field(live)).to_have_attribute("aria-expanded", "false")
    field(live).press_sequentially("i")
    expect(option).to_have_text(["shirt", "shirts"])
    field(live).press("Backspace")
    field(live).press("ArrowDown")
    field(live).press("ArrowDown")
    expect(option.nth(1)).to_have_attribute("aria-selected", "true")
    assert field(live).get_attribute("aria-activedescendant") == option.nth(1).get_attribute("id")
    field(live).press("Enter")
    expect(field(live)).to_have_value("she ")
    field(live).press_sequentially("li")
    live.get_by_role("option", name="likes").click()
    expect(field(live)).to_be_focused()
    field(live).press_sequentially("swimming")
    field(live).press("Enter")
    check_translation(live, "she likes swimming")


def test_every_chip_is_translated_correctly(live):
    for chip in live.locator(".chips .chip").all():
        chip.click()
        check_translation(live, chip.text_content() or "")


def test_another_one_is_of_the_grammar_and_judged_by_it(live, site):
    grammar = json.loads((site / "downloads/sentences.json").read_text(encoding="utf-8"))
    assert len(grammar) >= 40
    seen = set()
    for _ in range(4):
        live.locator(".another").click()
        expect(output_of(live).locator(".note")).to_be_visible()
        sentence = field(live).input_value()
        check_translation(live, sentence)
        right = chinese(sentence) == grammar[sentence]
        assert re.search("wrong|译错", output_of(live).text_content() or "") is None or not right
        seen.add(sentence)
    assert len(seen) == 4


def test_beam_search_finds_what_decode_finds(live, language):
    live.get_by_role("combobox").last.select_option(index=1)
    for sentence in (SHORT_SENTENCE, LONG_SENTENCE):
        translate(live, sentence)
        src = torch.tensor([KNOWN.source.encode(sentence.split())])
        ids = beam_search(KNOWN.model, src, 60, 1, 2)[0].tolist()
        expect(output_of(live).locator("b")).to_have_text("".join(KNOWN.target.decode(ids)))


# What is wrong is reported


def test_unknown_words_are_marked_and_near_ones_offered(live, language):
    translate(live, "she drank cofee yesterday")
    expect(output_of(live).locator("mark")).to_have_text(["cofee"])
    expect(output_of(live)).to_contain_text(WORDS[language]["unknown"])
    output_of(live).get_by_role("button", name="coffee").click()
    check_translation(live, "she drank coffee yesterday")


def test_markup_stays_text(live):
    hostile = "<img src=x onerror=alert(1)> <bos> <script>"
    translate(live, hostile)
    expect(output_of(live).locator("mark")).to_have_text(hostile.split())
    assert live.locator("img, script").count() == 0


def test_what_is_empty_or_too_long_is_reported(live, language):
    for sentence, what in (("", "empty"), ("we " * 65, "long"), (" . ", "empty")):
        translate(live, sentence)
        expect(output_of(live)).to_contain_text(WORDS[language][what])


def test_the_longest_sentence_is_translated_and_fits(live, reader):
    translate(live, "we " * 64)
    expect(live.locator("svg .word")).to_have_count(64)
    assert reader.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_missing_weights_are_reported_and_can_be_asked_for_again(page: Page, home, language):
    page.emulate_media(reduced_motion="reduce")
    page.route("**/*.safetensors", lambda route: route.abort())
    page.goto(home)
    live = ready(page)
    live.locator(".go").click()
    again = output_of(live).get_by_role("button", name=WORDS[language]["again"])
    again.click()
    expect(again).to_be_visible()
    page.unroute("**/*.safetensors")
    again.click()
    check_translation(live, SHORT_SENTENCE)


# Step by step


def test_steps_show_what_was_looked_at_and_what_else_it_might_have_been(live):
    translate(live, LONG_SENTENCE)
    check_translation(live, LONG_SENTENCE)
    tokens, weights = read(LONG_SENTENCE)
    ids = [1, *KNOWN.target.encode(tokens)]
    src = torch.tensor([KNOWN.source.encode(LONG_SENTENCE.split())])
    with torch.no_grad():
        logits = KNOWN.model(src, torch.tensor([ids[:-1]]))[0]
    logits[:, 0] = -torch.inf
    shares = logits.softmax(dim=-1)
    slider = live.get_by_role("slider")
    for step in (len(tokens), len(tokens) - 1, 1):
        while slider.input_value() != str(step):
            slider.press("ArrowLeft")
        expect(live.locator("svg .token")).to_have_text(tokens[:step])
        expect(live.locator("svg .chosen")).to_have_text(tokens[step - 1])
        row = weights[-1, :, step - 1].mean(dim=0)
        assert lines(live) == pytest.approx(widths(row[None]), abs=0.02)
        output = live.locator(".explanation").text_content() or ""
        assert tokens[step - 1] in output and f"{row.max():.1%}" in output
        bars = live.locator(".bars li")
        best = shares[step - 1].topk(5).indices.tolist()
        assert bars.first.text_content() == f"{tokens[step - 1]}{shares[step - 1].max():.1%}"
        assert KNOWN.target.tokens[best[0]] == tokens[step - 1]
        expect(bars).to_have_count(5)


def test_buttons_and_characters_choose_the_step(live):
    back, forward = live.locator(".steps button").all()
    back.click()  # and this is the first use
    slider = live.get_by_role("slider")
    expect(slider).to_have_value("9")
    forward.click()
    expect(slider).to_have_value("10")
    live.locator("svg .token").nth(2).click()
    expect(slider).to_have_value("3")
    forward.click()
    expect(live.locator("svg .token")).to_have_text(list("我们为什"))


def test_each_layer_and_head_shows_its_own_weights(live):
    translate(live, SHORT_SENTENCE)
    check_translation(live, SHORT_SENTENCE)
    _, weights = read(SHORT_SENTENCE)
    _, layer, head, _ = live.get_by_role("combobox").all()
    for i in range(weights.shape[0]):
        layer.select_option(index=i)
        for j in range(weights.shape[1]):
            head.select_option(index=j + 1)
            assert lines(live) == pytest.approx(widths(weights[i, j]), abs=0.02)
    assert layer.locator("option").count() == weights.shape[0]
    assert head.locator("option").count() == weights.shape[1] + 1


def test_the_keyboard_alone_does_everything(live, reader):
    field(live).focus()
    press = reader.keyboard.press
    press("ControlOrMeta+a")
    reader.keyboard.type("we sing ?")
    press("Escape")
    press("Enter")
    expect(live.locator("svg .word")).to_have_text(["we", "sing", "?"])
    for _ in range(8):  # the button, five chips, the step back, the slider
        press("Tab")
    expect(live.get_by_role("slider")).to_be_focused()
    press("Home")
    expect(live.locator("svg .token")).to_have_count(1)
    press("Tab")
    press("Enter")
    expect(live.locator("svg .token")).to_have_count(2)
    press("Tab")
    press("ArrowUp")
    expect(live.locator(".choices select").first).to_have_value("0")


# Before and after


def test_it_writes_character_by_character_unless_motion_is_to_be_reduced(live, reader):
    reader.emulate_media(reduced_motion="no-preference")
    reader.evaluate(
        """() => { window.seen = new Set();
        new MutationObserver(() => {
          window.seen.add(document.querySelectorAll("svg .token").length);
        }).observe(document.querySelector(".stage"), { childList: true }); }"""
    )
    field(live).press("Enter")
    reader.wait_for_function("() => window.seen.has(1) && window.seen.has(5) && window.seen.has(9)")
    reader.emulate_media(reduced_motion="reduce")
    reader.evaluate("window.seen.clear()")
    field(live).press("Enter")
    reader.wait_for_function("() => window.seen.size > 0")
    assert reader.evaluate("[...window.seen]") == [9]


def test_after_the_weights_nothing_is_asked_for_and_no_network_is_needed(live, reader):
    live.locator(".another").click()
    expect(output_of(live).locator(".note")).to_be_visible()
    asked: list[str] = []
    reader.on("request", lambda request: asked.append(request.url))
    reader.context.set_offline(True)
    translate(live, LONG_SENTENCE)
    check_translation(live, LONG_SENTENCE)
    live.get_by_role("combobox").last.select_option(index=1)
    translate(live, SHORT_SENTENCE)
    check_translation(live, SHORT_SENTENCE)
    live.locator(".another").click()
    expect(output_of(live).locator(".note")).to_be_visible()
    reader.context.set_offline(False)
    assert not asked


@pytest.mark.parametrize("place", [WIDE])
def test_memory_is_steady(live, reader):
    """A hundred translations, and no more memory afterwards than after the first ten."""
    client = reader.context.new_cdp_session(reader)

    def used() -> int:
        client.send("HeapProfiler.collectGarbage")
        return client.send("Runtime.getHeapUsage")["usedSize"]

    def some(count: int) -> None:
        for i in range(count):
            field(live).fill(f"{'we ' * (2 + i % 3)}work")
            field(live).press("Enter")
            expect(live.locator("svg .word")).to_have_count(3 + i % 3)

    some(10)
    before = used()
    some(100)
    assert used() - before < 1_000_000


def test_axe_finds_nothing_in_any_state(live, reader):
    def check() -> None:
        widget = "[data-widget=translator]"
        assert_no_errors(axe_errors(reader, widget) + axe_errors(reader, widget, ["target-size"]))

    check()
    translate(live, "she drinks cofee")
    expect(output_of(live).locator("mark")).to_be_visible()
    check()
    live.locator(".chip").first.click()
    check_translation(live, SHORT_SENTENCE)
    live.get_by_role("slider").press("ArrowLeft")
    field(live).fill("s")
    expect(live.get_by_role("listbox")).to_be_visible()
    check()


def test_it_is_in_the_chapter_too_and_can_be_left_and_found_again(live, reader, home):
    reader.emulate_media(reduced_motion="no-preference")
    field(live).press("Enter")
    expect(live.locator("svg .chosen")).to_be_visible()  # it is writing
    reader.locator("article a[href$='decoding/']").first.click()
    reader.wait_for_url(f"{home}decoding/")
    live = ready(reader)
    expect(live).to_have_count(1)
    translate(live, "she likes swimming")
    expect(output_of(live).locator("b")).to_have_text(chinese("she likes swimming"))
