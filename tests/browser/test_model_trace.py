"""The interpreter of the page Step through in a real browser, from the files of the site."""

import json
from collections.abc import Callable, Iterator

import pytest

from bookbuild.reference import model_trace
from bookbuild.reference.javascript_model import browser_script, comparison_pairs
from bookbuild.reference.model_switches import SWITCHES
from browser_pages import BASE_URL

MODULES = [f"{BASE_URL}assets/widgets/debugger.js", f"{BASE_URL}downloads/translator.js"]
WEIGHTS_URL = f"{BASE_URL}downloads/translator-float16.safetensors"
pytestmark = [pytest.mark.parametrize("width", [1280]), pytest.mark.usefixtures("one_thread")]


@pytest.fixture(scope="module")
def tasks() -> list[dict]:
    return model_trace.make_tasks(comparison_pairs())


@pytest.fixture
def trace(checked_page, site) -> Callable[[list[dict]], Iterator[dict]]:
    """Runs trace of driver.mjs in the page."""
    program = json.loads((site / "downloads/model_program.json").read_text(encoding="utf-8"))

    def run(tasks: list[dict]) -> Iterator[dict]:
        checked_page.goto(f"{BASE_URL}404.html")
        for task in tasks:  # one at a time, since each result has megabytes
            arguments = ["trace", MODULES, WEIGHTS_URL, [task | {"program": program}]]
            yield from checked_page.evaluate(browser_script(), arguments)

    return run


def test_each_tensor_of_unseen_sentences_is_that_of_pytorch(trace, tasks, everything):
    """Of 50 sentences, or without --all of every tenth, since the build has compared all."""
    assert len(tasks) >= 50
    compared = tasks if everything else tasks[::10]
    difference = model_trace.compare_traces(compared, trace(compared))
    assert difference.float64 <= model_trace.FLOAT64_TOLERANCE
    assert difference.scaled <= model_trace.FLOAT32_TOLERANCE


@pytest.mark.slow  # tests/bookbuild/test_model_program.py compares them in Node.js
@pytest.mark.parametrize("switch", SWITCHES)
def test_each_tensor_with_a_switch_is_that_of_pytorch(trace, tasks, switch):
    changed = model_trace.with_switch(tasks[::8], switch)
    difference = model_trace.compare_traces(changed, trace(changed))
    assert difference.float64 <= model_trace.FLOAT64_TOLERANCE
