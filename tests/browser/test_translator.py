"""translator.js in a real browser is the translator in PyTorch, from the files of the site."""

import json
import re
import struct
from pathlib import Path

import pytest
from pygments.lexers import JavascriptLexer
from pygments.token import Comment

from bookbuild.reference import javascript_model
from browser_pages import BASE_URL
from corpus import english_tokens

TRANSLATOR_URL = f"{BASE_URL}downloads/translator.js"
WEIGHTS_URLS = {
    "float32": f"{BASE_URL}downloads/translator.safetensors",
    "float16": f"{BASE_URL}downloads/translator-float16.safetensors",
}
pytestmark = [pytest.mark.parametrize("width", [1280]), pytest.mark.usefixtures("one_thread")]


@pytest.fixture(scope="module")
def pairs(everything) -> list:
    """More than 200 sentences, or without --all 25, since the build has compared all in Node.js."""
    return javascript_model.comparison_pairs(per_kind=9 if everything else 1)


@pytest.fixture(scope="module")
def float32_reference(pairs) -> javascript_model.Outputs:
    return javascript_model.compute_reference(javascript_model.load_trained_translator(), pairs)


@pytest.fixture(scope="module")
def float16_reference(pairs) -> javascript_model.Outputs:
    rounded = javascript_model.load_trained_translator(rounded=True)
    return javascript_model.compute_reference(rounded, pairs)


def run_script(checked_page, body: str, argument=None):
    """Run the body of a function in the page, with the variables module, bytes and given."""
    checked_page.goto(f"{BASE_URL}404.html")
    script = f"""async (given) => {{
      const module = await import("{TRANSLATOR_URL}");
      const bytes = await (await fetch("{WEIGHTS_URLS["float16"]}")).arrayBuffer();
      {body}
    }}"""
    return checked_page.evaluate(script, argument)


def translate_all(checked_page, weights: str, tasks: list[dict]) -> javascript_model.Outputs:
    checked_page.goto(f"{BASE_URL}404.html")
    arguments = ["translate", [TRANSLATOR_URL], weights, tasks]
    return checked_page.evaluate(javascript_model.browser_script(), arguments)


def test_the_browser_translates_unseen_sentences_as_pytorch_does(
    checked_page, pairs, float32_reference, everything
):
    assert len(pairs) >= (200 if everything else 25)
    found = translate_all(
        checked_page,
        WEIGHTS_URLS["float32"],
        javascript_model.translation_tasks(pairs, float32_reference),
    )
    output = javascript_model.compare_outputs(found, float32_reference)
    assert (output.greedy, output.beam) == (len(pairs), len(pairs))
    assert output.logits <= 1e-5
    assert output.attention <= 1e-5


def test_float16_weights_differ_only_by_their_rounding(
    checked_page, pairs, float32_reference, float16_reference
):
    found = translate_all(
        checked_page,
        WEIGHTS_URLS["float16"],
        javascript_model.translation_tasks(pairs, float32_reference),
    )
    output = javascript_model.compare_outputs(found, float32_reference)
    assert (output.greedy, output.beam) == (len(pairs), len(pairs))
    assert output.logits <= 1e-2
    if all(
        a["greedy"] == b["greedy"]
        for a, b in zip(float16_reference, float32_reference, strict=True)
    ):  # else the logits belong to other sentences
        same = javascript_model.compare_outputs(found, float16_reference)
        assert same.logits <= 1e-5
        assert same.attention <= 1e-5


CODE_CHANGES = [
    ("sum / Math.sqrt(size)", "sum / size"),
    ("(column - odd) / d_model", "column / d_model"),
    ("residuals[2].norm", "residuals[1].norm"),
    ("Math.max(0, each)", "each"),
    ("[...kept]", "kept"),
    ("exponent - 25", "exponent - 24"),
    ("1024 + fraction", "1024"),
]


@pytest.mark.parametrize(("line", "changed"), CODE_CHANGES)
def test_a_changed_line_of_code_changes_the_outputs(
    tmp_path: Path, pairs, float32_reference, width, line, changed
):
    text = javascript_model.TRANSLATOR_JS.read_text(encoding="utf-8")
    assert text.count(line) == 1
    code = tmp_path / "translator.mjs"
    code.write_text(text.replace(line, changed), encoding="utf-8")
    sample = slice(0, None, len(pairs) // 10)
    tasks = javascript_model.translation_tasks(pairs[sample], float32_reference[sample])
    weights = javascript_model.to_float16()
    found = [*javascript_model.run_in_node("translate", [code], weights, tasks)]
    output = javascript_model.compare_outputs(found, float32_reference[sample])
    count = len(float32_reference[sample])
    assert (output.greedy, output.beam) != (count, count) or output.logits > 1e-2


def test_a_text_is_split_into_words_as_in_training(checked_page):
    texts = ["Forty-two?", "Why do we work?", "  one, two.three ", "", "?-?", "it's 3 o'clock"]
    body = "return given.map((text) => module.parse(bytes).words(text))"
    assert run_script(checked_page, body, texts) == [english_tokens(text) for text in texts]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("t.encode(['we', 'qwrtzx'])", "qwrtzx is not in the vocabulary"),
        ("t.encode(['<pad>'])", "<pad> is not in the vocabulary"),
        ("t.start([])", "there is nothing to translate"),
        ("t.start([99999])", "no token has id 99999"),
        ("t.start([5]).step(0)", "no token has id 0"),
        ("t.start(Array(65).fill(5))", "over 64 tokens"),
        ("module.parse(new ArrayBuffer(4))", "this is no translator"),
        ("module.parse(bytes.slice(0, 500000))", "is cut off"),
        ("module.parse(bytes.slice(0, -1))", "is cut off"),
    ],
)
def test_invalid_input_raises_an_error_with_a_message(checked_page, body, message):
    script = f"const t = module.parse(bytes); try {{ {body} }} catch (e) {{ return e.message }}"
    assert message in run_script(checked_page, script)


def test_a_model_with_another_configuration_is_rejected(checked_page):
    data = javascript_model.to_float16()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    about = json.loads(header["__metadata__"]["translator"])
    about["config"]["norm_first"] = False
    header["__metadata__"]["translator"] = json.dumps(about)
    text = json.dumps(header)
    script = """const head = new TextEncoder().encode(given[0]);
      const file = new Uint8Array(8 + head.length + bytes.byteLength - given[1]);
      new DataView(file.buffer).setUint32(0, head.length, true);
      file.set(head, 8);
      file.set(new Uint8Array(bytes, given[1]), 8 + head.length);
      try { module.parse(file.buffer) } catch (e) { return e.message }"""
    assert "norm_first" in run_script(checked_page, script, [text, 8 + size])


def test_a_step_returns_probabilities_and_a_copied_state_is_independent(checked_page):
    body = """const t = module.parse(bytes);
      const ids = t.encode(t.words("why do we work?"));
      const steps = module.greedy(t, ids);
      const one = t.start(ids);
      one.step(1);
      const two = one.copy();
      two.step(steps[1].id);
      const after = one.step(steps[0].id).logits;
      const fresh = t.start(ids);
      fresh.step(1);
      const straight = fresh.step(steps[0].id).logits;
      return {
        text: steps.map((step) => step.token).join(""),
        sums: steps.map(({ probabilities }) => probabilities.reduce((a, b) => a + b)),
        pads: steps.map(({ probabilities }) => probabilities[0]),
        heads: steps[0].attention.map((layer) => layer.map((head) => head.length)),
        apart: after.reduce((d, x, i) => Math.max(d, Math.abs(x - straight[i])), 0),
      }"""
    found = run_script(checked_page, body)
    assert found["text"] == "我们为什么工作？<eos>"
    assert found["sums"] == pytest.approx([1.0] * 9, abs=1e-5)
    assert found["pads"] == [0] * 9
    assert found["heads"] == [[5] * 4] * 2
    assert found["apart"] == 0


@pytest.mark.slow  # 110 translations
def test_memory_use_stays_constant_over_100_translations(checked_page):
    body = """window.t = module.parse(bytes); window.module = module;
      window.again = (count) => {
        for (let i = 0; i < count; i++) module.beam(t, t.encode(t.words("why do we work?")));
      }"""
    run_script(checked_page, body)
    session = checked_page.context.new_cdp_session(checked_page)
    session.send("Performance.enable")

    def used_memory(count: int) -> float:
        checked_page.evaluate("(count) => again(count)", count)
        session.send("HeapProfiler.collectGarbage")
        metrics = session.send("Performance.getMetrics")["metrics"]
        return {each["name"]: each["value"] for each in metrics}["JSHeapUsedSize"]

    before = used_memory(10)
    assert used_memory(100) - before < 300_000


def code_tokens(script: Path) -> list[str]:
    """The tokens of a script, without comments and the words of its errors."""
    text = re.sub(r'new Error\((?:"[^"]*"|`[^`]*`)', "new Error(", script.read_text("utf-8"))
    tokens = JavascriptLexer().get_tokens(text)
    return [code for kind, code in tokens if kind not in Comment and not code.isspace()]


def test_both_languages_have_the_same_code_and_share_the_weights(site, width):
    english, chinese = site / "downloads", site / "zh/downloads"
    tokens, others = (code_tokens(folder / "translator.js") for folder in (english, chinese))
    assert tokens == others and len(tokens) > 1000
    assert [path.parent for path in site.rglob("translator-float16.safetensors")] == [english]
