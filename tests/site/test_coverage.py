"""Every topic of the five tutorials is covered here, in both languages."""

from pathlib import Path

import pytest
import yaml

from bookbuild.pages.paths import LANGUAGES
from built_pages import assert_no_errors

ITEMS_PER_SOURCE = {
    "S0": 18,
    "S1": 8,
    "S2": 14,
    "S3": 15,
    "S4": 9,
}  # how many topics each tutorial has
COVERAGE_ROWS = yaml.safe_load(Path(__file__).with_name("coverage.yml").read_text(encoding="utf-8"))


def test_every_item_has_exactly_one_row():
    expected = [
        f"{source}.{n}" for source, count in ITEMS_PER_SOURCE.items() for n in range(1, count + 1)
    ]
    assert [*COVERAGE_ROWS] == expected


@pytest.mark.parametrize("item", COVERAGE_ROWS)
def test_a_row_has_places_and_a_method_or_a_reason(item):
    row = COVERAGE_ROWS[item]
    assert row.keys() in ({"what", "where", "how"}, {"what", "left_out"})
    assert all(isinstance(each, str) and each for key, each in row.items() if key != "where")
    assert len(row.get("where", [])) == len({*row.get("where", [])})


def test_only_three_items_are_left_out():
    assert [item for item, row in COVERAGE_ROWS.items() if "left_out" in row] == [
        "S0.1",
        "S3.1",
        "S4.1",
    ]


def test_every_place_exists_in_both_languages(built_pages):
    ids = {
        (page.source.language, page.source.name): {
            element.attributes.get("id") for element in page.article.find()
        }
        for page in built_pages
    }
    errors = []
    for item, row in COVERAGE_ROWS.items():
        for place in row.get("where", []):
            name, _, anchor = place.partition("#")
            for language in LANGUAGES:
                if not anchor or anchor not in ids.get((language, name), set()):
                    errors.append(
                        f"{item}: docs/{language}/{name} has no anchor {anchor or '(none)'}"
                    )
    assert_no_errors(errors)
