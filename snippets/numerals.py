# --8<-- [start:units]
"""Numbers in English words and in Chinese numerals, exactly, and back.

342005 is "three hundred and forty-two thousand and five" and 三十四万二千零五.
English counts in thousands and Chinese in ten thousands, so a translation
has to group the digits differently.
"""

from collections.abc import Callable

LIMIT = 10**12

SMALL = [
    "zero", "one", "two", "three", "four", "five", "six",
    "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
TENS = [
    "twenty", "thirty", "forty", "fifty",
    "sixty", "seventy", "eighty", "ninety",
]  # fmt: skip
ENGLISH_UNITS = {  # the largest first
    "billion": 10**9,
    "million": 10**6,
    "thousand": 1000,
    "hundred": 100,
}
DIGITS = "零一二三四五六七八九"
CHINESE_UNITS = {"亿": 10**8, "万": 10**4, "千": 1000, "百": 100, "十": 10}


def check_number(n: int) -> None:
    """Raise ValueError unless n is an integer and 0 <= n < 10**12."""
    if type(n) is not int or not 0 <= n < LIMIT:
        raise ValueError(f"n must be an int from 0 to {LIMIT - 1}, got {n!r}")


# --8<-- [end:units]
# --8<-- [start:to_english]
def to_english(n: int) -> str:
    """The number in English words: 2005 is "two thousand and five".

    As in Britain, "and" stands before tens and ones that follow something
    larger. Raises ValueError unless n is an integer and 0 <= n < 10**12.
    """
    check_number(n)
    for unit, size in ENGLISH_UNITS.items():
        if n >= size:
            high, low = divmod(n, size)
            head = f"{to_english(high)} {unit}"
            if low == 0:
                return head
            return f"{head}{' and ' if low < 100 else ' '}{to_english(low)}"
    if n < 20:
        return SMALL[n]
    tens, ones = TENS[n // 10 - 2], n % 10
    return f"{tens}-{SMALL[ones]}" if ones else tens


# --8<-- [end:to_english]
# --8<-- [start:to_chinese]
def to_chinese(n: int) -> str:
    """The number in Chinese numerals: 2005 is 二千零五.

    One 零 stands for all the zeros of a gap. 12 is 十二 where it begins the
    number and 一十二 elsewhere; 2 is always 二, not 两.
    Raises ValueError unless n is an integer and 0 <= n < 10**12.
    """
    check_number(n)
    text = chinese_digits(n)
    return text.removeprefix("一") if text.startswith("一十") else text


def chinese_digits(n: int) -> str:
    for unit, size in CHINESE_UNITS.items():
        if n >= size:
            high, low = divmod(n, size)
            head = chinese_digits(high) + unit
            if low == 0:
                return head
            gap = "零" if low < size // 10 else ""  # the next place is empty
            return head + gap + chinese_digits(low)
    return DIGITS[n]


# --8<-- [end:to_chinese]
# --8<-- [start:back]
def from_english(text: str) -> int:
    """The number n whose to_english(n) is the text.

    Raises ValueError for any other text, naming the word that is no number,
    or how the number is written.
    """
    words = text.replace("-", " ").split()
    known = {*SMALL, *TENS, *ENGLISH_UNITS, "and"}
    unknown = [word for word in words if word not in known]
    if unknown:
        raise ValueError(f"{unknown[0]!r} in {text!r} is not part of a number")
    return checked(text, english_value(words), to_english)


def english_value(words: list[str]) -> int:
    for unit, size in ENGLISH_UNITS.items():
        if unit in words:
            i = words.index(unit)
            high, low = english_value(words[:i]), english_value(words[i + 1 :])
            return high * size + low
    small = [SMALL.index(word) for word in words if word in SMALL]
    tens = [20 + 10 * TENS.index(word) for word in words if word in TENS]
    return sum(small) + sum(tens)


def from_chinese(text: str) -> int:
    """The number n whose to_chinese(n) is the text.

    Raises ValueError for any other text, naming the character that is no
    numeral, or how the number is written.
    """
    unknown = [c for c in text if c not in DIGITS and c not in CHINESE_UNITS]
    if unknown:
        raise ValueError(f"{unknown[0]!r} in {text!r} is not part of a number")
    return checked(text, chinese_value(text), to_chinese)


def chinese_value(text: str) -> int:
    for unit, size in CHINESE_UNITS.items():
        if unit in text:
            high, low = text.split(unit, 1)
            ones = chinese_value(high) if high else 1  # 十 alone is 一十
            return ones * size + chinese_value(low)
    return sum(map(DIGITS.index, text))


def checked(text: str, n: int, written: Callable[[int], str]) -> int:
    """n, if the text is the one way of writing it; ValueError else."""
    if n >= LIMIT or not text:
        raise ValueError(f"{text!r} is not a number from 0 to {LIMIT - 1}")
    if written(n) != text:
        raise ValueError(f"{text!r} is not a number; {n} is {written(n)!r}")
    return n


# --8<-- [end:back]
