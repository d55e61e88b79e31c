"""Each program prints what is committed for it, so that a changed output is seen in review."""

import re

import pytest

from bookbuild.pages.paths import GENERATED, LANGUAGES, SNIPPETS
from bookbuild.run.recorded import recorded_outputs

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.(\d+))?(?:e([+-]?\d+))?(?![\w.]*\w)")
ROUNDING = 1e-5  # a smaller number is a rounding error, which differs between processors
FOLDERS = ("examples", "exercises", "pitfalls")
PROGRAMS = [
    path.relative_to(SNIPPETS).with_suffix("").as_posix()
    for folder in FOLDERS
    for path in sorted((SNIPPETS / folder).rglob("*.py"))
]


def differences(printed: str, committed: str) -> list[tuple[str, str]]:
    """The lines that differ, apart from the last digit of a number with a decimal point."""
    lines, others = printed.splitlines(), committed.splitlines()
    if len(lines) != len(others):
        return [(printed, committed)]
    return [pair for pair in zip(lines, others, strict=True) if not same_line(*pair)]


def same_line(one: str, other: str) -> bool:
    if NUMBER.sub("0", one) != NUMBER.sub("0", other):
        return False
    pairs = zip(NUMBER.finditer(one), NUMBER.finditer(other), strict=True)
    return all(same_number(*pair) for pair in pairs)


def same_number(one: re.Match, other: re.Match) -> bool:
    x, y = float(one[0]), float(other[0])
    if max(abs(x), abs(y)) < ROUNDING:
        return True
    last_digit = 10.0 ** (int(one[2] or 0) - len(one[1] or "")) if one[1] or one[2] else 0
    return abs(x - y) <= 1.01 * last_digit


def test_each_program_prints_what_is_committed():
    hint = "look at the page, then run scripts/generate --accept NAME"
    recorded = recorded_outputs()
    committed = {name: recorded[name].texts[0] for name in PROGRAMS if name in recorded}
    assert sorted(committed) == sorted(PROGRAMS), hint
    printed = {
        name: (GENERATED / "outputs" / f"{name}.txt").read_text(encoding="utf-8")
        for name in PROGRAMS
    }
    found = {name: differences(printed[name], committed[name]) for name in PROGRAMS}
    assert {name: lines for name, lines in found.items() if lines} == {}, hint


@pytest.mark.parametrize(
    ("printed", "same"),
    [
        ("loss: 0.124, 3 of 4", True),
        ("loss: 0.126, 3 of 4", False),
        ("loss: 0.123, 2 of 4", False),
        ("loss: 0.123, 3 of 4\nmore", False),
    ],
)
def test_only_the_last_digit_of_a_decimal_may_differ(printed, same):
    assert (differences(printed, "loss: 0.123, 3 of 4") == []) == same
    assert differences("error: 3e-16", "error: 9.1e-17") == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_figure_has_the_numbers_of_the_output_below_it(language):
    svg = (GENERATED / language / "figures/learned/reversal.svg").read_text(encoding="utf-8")
    output = (GENERATED / "outputs/examples/learned/reversal.txt").read_text(encoding="utf-8")
    drawn = re.findall(r">(\d\.\d\d)</text>", svg)
    assert len(drawn) == 25
    assert drawn == re.findall(r"\b\d\.\d\d\b", output)
