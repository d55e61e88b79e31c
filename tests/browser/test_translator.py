"""translator.js in a real browser is the translator in PyTorch, from the files of the site."""

import json
import struct
from pathlib import Path

import pytest

from bookbuild.reference import javascript_model
from browser_pages import BASE
from corpus import english_tokens

CODE = f"{BASE}downloads/translator.js"
FILES = {
    "float32": f"{BASE}downloads/translator.safetensors",
    "float16": f"{BASE}downloads/translator-float16.safetensors",
}
pytestmark = [pytest.mark.parametrize("width", [1280]), pytest.mark.usefixtures("one_thread")]


@pytest.fixture(scope="module")
def pairs() -> list:
    return javascript_model.comparison_pairs()


@pytest.fixture(scope="module")
def whole(pairs) -> javascript_model.Outputs:
    return javascript_model.compute_reference(javascript_model.load_trained_translator(), pairs)


@pytest.fixture(scope="module")
def coarse(pairs) -> javascript_model.Outputs:
    rounded = javascript_model.load_trained_translator(rounded=True)
    return javascript_model.compute_reference(rounded, pairs)


def run(reader, body: str, given=None):
    """Runs the body of a function in the page, with module, bytes and given."""
    reader.goto(f"{BASE}404.html")
    script = f"""async (given) => {{
      const module = await import("{CODE}");
      const bytes = await (await fetch("{FILES["float16"]}")).arrayBuffer();
      {body}
    }}"""
    return reader.evaluate(script, given)


def translate_all(reader, weights: str, task: dict) -> javascript_model.Outputs:
    reader.goto(f"{BASE}404.html")
    return json.loads(reader.evaluate(javascript_model.browser_script(), [CODE, weights, task]))


def test_the_browser_translates_200_sentences_as_pytorch_does(reader, pairs, whole):
    assert len(pairs) >= 200
    found = translate_all(reader, FILES["float32"], javascript_model.driver_input(pairs, whole))
    output = javascript_model.compare_outputs(found, whole)
    assert (output.greedy, output.beam) == (len(pairs), len(pairs))
    assert output.logits <= 1e-5
    assert output.attention <= 1e-5


def test_weights_of_16_bits_differ_by_their_rounding_alone(reader, pairs, whole, coarse):
    found = translate_all(reader, FILES["float16"], javascript_model.driver_input(pairs, whole))
    output = javascript_model.compare_outputs(found, whole)
    assert (output.greedy, output.beam) == (len(pairs), len(pairs))
    assert output.logits <= 1e-2
    if all(
        a["greedy"] == b["greedy"] for a, b in zip(coarse, whole, strict=True)
    ):  # else the logits belong to other sentences
        same = javascript_model.compare_outputs(found, coarse)
        assert same.logits <= 1e-5
        assert same.attention <= 1e-5


CHANGES = [
    ("sum / Math.sqrt(size)", "sum / size"),
    ("(column - odd) / d_model", "column / d_model"),
    ("residuals[2].norm", "residuals[1].norm"),
    ("Math.max(0, each)", "each"),
    ("[...kept]", "kept"),
    ("exponent - 25", "exponent - 24"),
    ("1024 + fraction", "1024"),
]


@pytest.mark.parametrize(("line", "changed"), CHANGES)
def test_a_changed_line_is_reported_apart(tmp_path: Path, pairs, whole, width, line, changed):
    text = javascript_model.TRANSLATOR_JS.read_text(encoding="utf-8")
    assert text.count(line) == 1
    code, weights = tmp_path / "translator.mjs", tmp_path / "halved"
    code.write_text(text.replace(line, changed), encoding="utf-8")
    weights.write_bytes(javascript_model.to_float16())
    few = slice(0, None, 24)
    task = javascript_model.driver_input(pairs[few], whole[few])
    found = javascript_model.run_in_node(weights, task, code)
    output = javascript_model.compare_outputs(found, whole[few])
    count = len(whole[few])
    assert (output.greedy, output.beam) != (count, count) or output.logits > 1e-2


def test_a_text_is_cut_into_the_words_that_the_training_saw(reader):
    texts = ["Forty-two?", "Why do we work?", "  one, two.three ", "", "?-?", "it's 3 o'clock"]
    body = "return given.map((text) => module.parse(bytes).words(text))"
    assert run(reader, body, texts) == [english_tokens(text) for text in texts]


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
        ("module.parse(bytes.slice(0, 500000))", "this is no translator"),
    ],
)
def test_what_cannot_be_translated_is_refused_in_words(reader, body, message):
    script = f"const t = module.parse(bytes); try {{ {body} }} catch (e) {{ return e.message }}"
    assert message in run(reader, script)


def test_a_model_of_another_configuration_is_refused(reader):
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
    assert "norm_first" in run(reader, script, [text, 8 + size])


def test_a_step_gives_probabilities_and_a_copy_goes_its_own_way(reader):
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
    found = run(reader, body)
    assert found["text"] == "我们为什么工作？<eos>"
    assert found["sums"] == pytest.approx([1.0] * 9, abs=1e-5)
    assert found["pads"] == [0] * 9
    assert found["heads"] == [[5] * 4] * 2
    assert found["apart"] == 0


def test_memory_is_steady_after_100_translations(reader):
    body = """window.t = module.parse(bytes); window.module = module;
      window.again = (count) => {
        for (let i = 0; i < count; i++) module.beam(t, t.encode(t.words("why do we work?")));
      }"""
    run(reader, body)
    session = reader.context.new_cdp_session(reader)
    session.send("Performance.enable")

    def used(count: int) -> float:
        reader.evaluate("(count) => again(count)", count)
        session.send("HeapProfiler.collectGarbage")
        metrics = session.send("Performance.getMetrics")["metrics"]
        return {each["name"]: each["value"] for each in metrics}["JSHeapUsedSize"]

    before = used(10)
    assert used(100) - before < 300_000


def test_both_languages_have_the_same_files(site, width):
    for name in ("translator.js", "translator-float16.safetensors"):
        english = (site / "downloads" / name).read_bytes()
        assert (site / "zh/downloads" / name).read_bytes() == english
