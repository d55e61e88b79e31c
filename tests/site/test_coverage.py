"""Every topic of the five tutorials is covered here, in both languages (docs/en/sources.md)."""

from pathlib import Path

import yaml

from bookbuild.pages.page import SourcePage
from bookbuild.pages.paths import LANGUAGES
from built_pages import assert_no_errors

TOPICS = yaml.safe_load(Path(__file__).with_name("coverage.yml").read_text(encoding="utf-8"))


def test_every_topic_but_three_has_places_that_exist_in_both_languages():
    assert len(TOPICS) == 64
    assert [name for name, topic in TOPICS.items() if "left_out" in topic] == [
        "S0.1",
        "S3.1",
        "S4.1",
    ]
    places = [place for topic in TOPICS.values() for place in topic.get("where", [])]
    assert_no_errors(
        f"docs/{language}/{place} doesn't exist"
        for place in places
        for language in LANGUAGES
        for name, _, anchor in [place.partition("#")]
        if anchor not in SourcePage(language, name).anchors()
    )
