"""translator.js in a real browser is the translator in PyTorch, from the files of the site."""

import pytest

from bookbuild.generated import javascript_model
from browser_pages import BASE_URL, LIGHT_PAGE_URL
from corpus import english_tokens

TRANSLATOR_URL = f"{BASE_URL}downloads/translator.js"
WEIGHTS_URL = f"{BASE_URL}downloads/translator-float16.safetensors"
pytestmark = [pytest.mark.parametrize("width", [1280]), pytest.mark.usefixtures("one_thread")]


def run_script(checked_page, body: str, argument=None):
    """Run the body of a function in the page, with the variables module, bytes and given."""
    checked_page.goto(LIGHT_PAGE_URL)
    script = f"""async (given) => {{
      const module = await import("{TRANSLATOR_URL}");
      const bytes = await (await fetch("{WEIGHTS_URL}")).arrayBuffer();
      {body}
    }}"""
    return checked_page.evaluate(script, argument)


def test_the_browser_translates_unseen_sentences_as_pytorch_does(checked_page, everything):
    """More than 200, or without --all a few, since the build has compared all in Node.js."""
    pairs = javascript_model.comparison_pairs(per_kind=9 if everything else 1)
    pairs = pairs if everything else pairs[::3]
    assert len(pairs) >= (200 if everything else 8)
    rounded = javascript_model.load_trained_translator(rounded=True)
    reference = javascript_model.compute_reference(rounded, pairs)
    tasks = javascript_model.translation_tasks(pairs, reference)
    checked_page.goto(LIGHT_PAGE_URL)
    arguments = ["translate", [TRANSLATOR_URL], WEIGHTS_URL, tasks]
    found = checked_page.evaluate(javascript_model.browser_script(), arguments)
    output = javascript_model.compare_outputs(found, reference)
    assert (output.greedy, output.beam) == (len(pairs), len(pairs))
    assert output.logits <= 1e-5
    assert output.attention <= 1e-5


def test_a_text_is_split_into_words_as_in_training(checked_page):
    texts = ["Forty-two?", "Why do we work?", "  one, two.three ", "", "?-?", "it's 3 o'clock"]
    body = "return given.map((text) => module.parse(bytes).words(text))"
    assert run_script(checked_page, body, texts) == [english_tokens(text) for text in texts]


INVALID_INPUTS = {
    "t.encode(['we', 'qwrtzx'])": "qwrtzx is not in the vocabulary",
    "t.start([])": "there is nothing to translate",
    "t.start(Array(65).fill(5))": "over 64 tokens",
    "module.parse(new ArrayBuffer(4))": "this is no translator",
    "module.parse(bytes.slice(0, -1))": "is cut off",
}


def test_invalid_input_raises_an_error_with_a_message(checked_page):
    script = "const t = module.parse(bytes); const all = [];"
    for call in INVALID_INPUTS:
        script += f"try {{ {call} }} catch (error) {{ all.push(error.message) }}\n"
    found = run_script(checked_page, f"{script} return all")
    for message, expected in zip(found, INVALID_INPUTS.values(), strict=True):
        assert expected in message
