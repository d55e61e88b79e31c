import re

from numerals import to_chinese, to_english

IRREGULAR = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}


def english_ordinal(n: int) -> str:
    *before, last = re.split(r"([ -])", to_english(n))
    if last not in IRREGULAR:
        last = re.sub("y$", "ie", last) + "th"  # twenty, twentieth
    return "".join([*before, IRREGULAR.get(last, last)])


def chinese_ordinal(n: int) -> str:
    return "第" + to_chinese(n)


for n in 1, 12, 20, 42, 342005:
    print(f"{n}: {english_ordinal(n)}, {chinese_ordinal(n)}")
