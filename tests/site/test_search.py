"""The search: the page that answers a query comes first. test_reading.py types in a browser."""

import fnmatch
import itertools
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from bookbuild.pages.glossary import load_glossary
from bookbuild.pages.node import node_executable
from bookbuild.pages.paths import LANGUAGES
from built_pages import ROOT, assert_no_errors

QUERIES = yaml.safe_load((ROOT / "tests/site/search_queries.yml").read_text(encoding="utf-8"))
# Terms that another page has, too; the page that treats them is one of the first two.
AMBIGUOUS_TERMS = {
    "axis",
    "batch",
    "decoding",
    "exposure bias",
    "prefix",
    "shape",
    "source",
    "target",
}
SYMPTOM_PAGES = "troubleshooting", "pitfalls*"


class Expected(NamedTuple):
    """A query, and the places of which one must be within the first pages."""

    query: str
    places: list[str]
    within: int


def expected_results(language: str) -> Iterator[Expected]:
    for group, kind in itertools.product(("both", language), ("terms", "symptoms")):
        for query, value in QUERIES[group][kind].items():
            options = value if isinstance(value, dict) else {"place": value, "within": 1}
            places = options["place"]
            places = [places] if isinstance(places, str) else [*places]
            others = SYMPTOM_PAGES if kind == "symptoms" else ()
            yield Expected(query, [*places, *others], options["within"])


def search(site: Path, language: str, queries: list[str]) -> list[dict[str, Any]]:
    folder = site / ("zh" if language == "zh" else "") / "search"
    process = subprocess.run(
        [node_executable(), ROOT / "tests/search.mjs"],
        input=json.dumps({"folder": str(folder), "queries": queries}),
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert not process.returncode, process.stderr
    return json.loads(process.stdout)


def is_right(group: list[dict[str, Any]], places: list[str]) -> bool:
    """Whether a page, and its best section if the place has an anchor, is one of the places."""
    page, _, anchor = next((each for each in group if "#" in each["location"]), group[0])[
        "location"
    ].partition("#")
    name = page.rstrip("/") or "index"
    return any(
        fnmatch.fnmatch(name, place.partition("#")[0]) and place.partition("#")[2] in ("", anchor)
        for place in places
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_that_answers_a_query_comes_first(site, language):
    expected = [*expected_results(language)]
    answers = search(site, language, [each.query for each in expected])
    assert_no_errors(
        f"{each.query}: {[group[0]['location'] for group in answer['items'][:3]]}"
        for each, answer in zip(expected, answers, strict=True)
        if not any(is_right(group, each.places) for group in answer["items"][: each.within])
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_term_of_the_glossary_leads_to_the_page_that_treats_it(site, language):
    pages = {term[language]: term["where"].partition(".md")[0] for term in load_glossary()}
    answers = search(site, language, [*pages])
    limits = {term[language]: 2 for term in load_glossary() if term["en"] in AMBIGUOUS_TERMS}
    assert_no_errors(
        f"{term}: {[group[0]['location'] for group in answer['items'][:2]]}"
        for (term, page), answer in zip(pages.items(), answers, strict=True)
        if not any(is_right(group, [page]) for group in answer["items"][: limits.get(term, 1)])
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_result_shows_a_short_excerpt_with_the_words_marked(site, language):
    queries = ["<eos>", "masked_fill", {"en": "warmup", "zh": "学习率预热"}[language]]
    for query, answer in zip(queries, search(site, language, queries), strict=True):
        results = [result for group in answer["items"] for result in group if result["score"]]
        assert results, query
        marked = [result for result in results if "<mark" in result["title"] + result["text"]]
        assert len(marked) > len(results) / 2, query
        for result in results:
            text = re.sub(r"</?mark[^>]*>", "", result["text"])
            assert len(re.sub(r"&#\d+;", "x", text)) <= 162, text
            assert not re.search(r"[<>]|# \(\d+\)!", text), text


def test_a_word_that_is_not_finished_finds_the_longer_ones_and_is_completed(site):
    [answer] = search(site, "en", ["multi-head att"])
    assert answer["items"][0][0]["location"].startswith("multi-head-attention/")
    assert answer["suggest"][0].startswith("att")


def test_a_part_of_a_word_is_not_the_beginning_of_another(site):
    """RoPE has the parts Ro and PE, and perplexity begins with pe."""
    [answer] = search(site, "en", ["RoPE"])
    marked = {
        word.lower()
        for group in answer["items"]
        for result in group
        for word in re.findall(r"<mark[^>]*>(.*?)</mark>", result["title"] + result["text"])
    }
    assert marked
    assert marked <= {"rope", "ropes"}


def test_no_query_is_an_error(site):
    queries = ["", "-", "?", "*", "a:b ~1 ^2", "+the", "constructor", "\\"]
    assert all(isinstance(answer["items"], list) for answer in search(site, "en", queries))
