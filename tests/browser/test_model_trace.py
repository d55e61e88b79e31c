"""The interpreter of the page Step through in a real browser, from the files of the site."""

import json
from collections.abc import Iterator

import pytest

from bookbuild.reference import model_trace
from bookbuild.reference.javascript_model import comparison_pairs
from bookbuild.reference.model_switches import SWITCHES
from browser_pages import BASE_URL

FILES = [
    f"{BASE_URL}assets/widgets/debugger.js",
    f"{BASE_URL}downloads/translator.js",
    f"{BASE_URL}downloads/translator-float16.safetensors",
    f"{BASE_URL}downloads/model_program.json",
]
pytestmark = [pytest.mark.parametrize("width", [1280]), pytest.mark.usefixtures("one_thread")]


@pytest.fixture(scope="module")
def tasks() -> list[dict]:
    return model_trace.make_tasks(comparison_pairs())


def trace(checked_page, tasks: list[dict]) -> Iterator[dict]:
    checked_page.goto(f"{BASE_URL}404.html")
    for task in tasks:
        yield json.loads(checked_page.evaluate(model_trace.browser_script(), [*FILES, task]))


def test_each_tensor_of_unseen_sentences_is_that_of_pytorch(checked_page, tasks, everything):
    """Of 50 sentences, or without --all of every fourth, since the build has compared all."""
    assert len(tasks) >= 50
    compared = tasks if everything else tasks[::4]
    difference = model_trace.compare_traces(compared, trace(checked_page, compared))
    assert difference.float64 <= model_trace.FLOAT64_TOLERANCE
    assert difference.scaled <= model_trace.FLOAT32_TOLERANCE


@pytest.mark.parametrize("switch", SWITCHES)
def test_each_tensor_with_a_switch_is_that_of_pytorch(checked_page, tasks, switch):
    changed = model_trace.with_switch(tasks[::8], switch)
    difference = model_trace.compare_traces(changed, trace(checked_page, changed))
    assert difference.float64 <= model_trace.FLOAT64_TOLERANCE
