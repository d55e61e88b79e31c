"""Whatever the five tutorials teach has its place here, in both languages."""

from pathlib import Path

import pytest
import yaml

from bookbuild.pages.paths import LANGUAGES
from built_pages import assert_no_errors

ITEMS = {"S0": 18, "S1": 8, "S2": 14, "S3": 15, "S4": 9}  # how many each of them has
ROWS = yaml.safe_load(Path(__file__).with_name("coverage.yml").read_text(encoding="utf-8"))


def test_every_item_has_a_row_and_no_row_is_of_another():
    expected = [f"{source}.{n}" for source, count in ITEMS.items() for n in range(1, count + 1)]
    assert [*ROWS] == expected


@pytest.mark.parametrize("item", ROWS)
def test_a_row_says_where_and_how_or_why_not(item):
    row = ROWS[item]
    assert row.keys() in ({"what", "where", "how"}, {"what", "left_out"})
    assert all(isinstance(each, str) and each for key, each in row.items() if key != "where")
    assert len(row.get("where", [])) == len({*row.get("where", [])})


def test_next_to_nothing_is_left_out():
    assert [item for item, row in ROWS.items() if "left_out" in row] == ["S0.1", "S3.1", "S4.1"]


def test_every_place_is_there_in_both_languages(built):
    ids = {
        (page.source.language, page.source.name): {
            element.attributes.get("id") for element in page.article.find()
        }
        for page in built
    }
    errors = []
    for item, row in ROWS.items():
        for place in row.get("where", []):
            name, _, anchor = place.partition("#")
            for language in LANGUAGES:
                if not anchor or anchor not in ids.get((language, name), set()):
                    errors.append(
                        f"{item}: docs/{language}/{name} has no anchor {anchor or '(none)'}"
                    )
    assert_no_errors(errors)
