# --8<-- [start:pairs]
"""The data: sentences cut into tokens, in three parts, with vocabularies.

English is split into words and Chinese into characters. Nobody does in a
sentence of one part what the same person does in a sentence of another part,
so no translation that is tested was seen in training.
"""

import difflib
import random
from collections.abc import Iterable
from typing import NamedTuple

from numerals import to_chinese, to_english
from phrases import KINDS, Phrase, part_of, phrase

PARTS = ("train", "validation", "test")


class Pair(NamedTuple):
    """A source, its translation, both as tokens, and what kind it is."""

    source: list[str]
    target: list[str]
    kind: str


def english_tokens(text: str) -> list[str]:
    """The words of a text: "Forty-two?" becomes forty, two and ?."""
    spaced = text.lower().replace("-", " ").replace("?", " ? ")
    return spaced.replace(".", " ").replace(",", " ").split()


def chinese_tokens(text: str) -> list[str]:
    """The characters of a text."""
    return list(text)


# --8<-- [end:pairs]
# --8<-- [start:vocabulary]
class Vocabulary:
    """Tokens with their ids: <pad>, <bos> and <eos> are 0, 1 and 2.

    The others follow in sorted order, so that Vocabulary(v.tokens) equals v.
    """

    specials = ("<pad>", "<bos>", "<eos>")
    pad_id, bos_id, eos_id = range(3)

    def __init__(self, tokens: Iterable[str]):
        others = sorted({*tokens}.difference(self.specials))
        self.tokens = [*self.specials, *others]
        self.ids = {token: i for i, token in enumerate(self.tokens)}

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """The ids of the tokens; ValueError for a token that is not known."""
        return [self.id_of(token) for token in tokens]

    def id_of(self, token: str) -> int:
        if token in self.ids:
            return self.ids[token]
        near = difflib.get_close_matches(token, self.tokens)
        hint = f"; near it: {', '.join(near)}" if near else ""
        raise ValueError(f"{token!r} is not in the vocabulary{hint}")

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The tokens up to the first <eos>, without <bos> and <pad>.

        Raises ValueError for an id outside the vocabulary.
        """
        tokens = []
        for i in ids:
            if not 0 <= i < len(self):
                raise ValueError(f"ids are 0 to {len(self) - 1}, got {i}")
            if i == self.eos_id:
                break
            if i not in (self.bos_id, self.pad_id):
                tokens.append(self.tokens[i])
        return tokens


# --8<-- [end:vocabulary]
# --8<-- [start:numerals]
def numerals(part: str) -> list[Pair]:
    """English number words and Chinese numerals, of at most ten digits.

    The part is "train" (some 37 000 pairs), "validation" or "test" (2000
    each); ValueError for another. The kind is the number of digits.
    """
    return numbers(part, digits=10, draws=50_000, held_out=2000)


def numbers(part: str, digits: int, draws: int, held_out: int) -> list[Pair]:
    """Random numbers; those below 100 are all in "train", ten times each."""
    check_part(part)
    rng = random.Random(digits)
    drawn = {random_number(rng, rng.randint(3, digits)) for _ in range(draws)}
    rest = sorted(drawn)
    rng.shuffle(rest)
    test, validation = rest[:held_out], rest[held_out : 2 * held_out]
    train = 10 * [*range(100)] + rest[2 * held_out :]
    of = {"train": train, "validation": validation, "test": test}
    return [number_pair(n) for n in of[part]]


def check_part(part: str) -> None:
    """Raise ValueError unless the part is one that there is."""
    if part not in PARTS:
        raise ValueError(f"part is {', '.join(PARTS)}, not {part!r}")


def random_number(rng: random.Random, digits: int) -> int:
    """A number of so many digits; in every other one, half of them are 0."""
    n = rng.randrange(10 ** (digits - 1), 10**digits)
    if rng.random() < 0.5:
        return n
    tail = ("0" if rng.random() < 0.5 else digit for digit in str(n)[1:])
    return int(str(n)[0] + "".join(tail))


def number_pair(n: int) -> Pair:
    kind = f"{len(str(n))} digits" if n >= 10 else "1 digit"
    source = english_tokens(to_english(n))
    return Pair(source, chinese_tokens(to_chinese(n)), kind)


# --8<-- [end:numerals]
# --8<-- [start:translator]
def translator(part: str) -> list[Pair]:
    """English sentences and numbers with their Chinese translations.

    The part is "train" (some 39 000 pairs), "validation" or "test" (some 2200
    each); ValueError for another. The kinds are those of phrases.py and
    "number", below a million. No fact, price or number above 99 is in two
    parts. A year may be in any, and so may a state that is only mentioned
    beside another fact ("because he was hungry").
    """
    check_part(part)
    size = 1500 if part == "train" else 90
    every = numbers("train", digits=6, draws=5500, held_out=0)
    pairs = [pair for pair in every if part_of_number(pair) == part]
    pairs = pairs if part == "train" else pairs[:size]
    pairs = [pair._replace(kind="number") for pair in pairs]
    for kind in KINDS:
        pairs += [phrase_pair(phrase) for phrase in sentences(kind, part, size)]
    random.Random(part).shuffle(pairs)
    return pairs


def part_of_number(pair: Pair) -> str:
    """The part of a number, and of the sentences that have it as a price."""
    small = pair.kind in ("1 digit", "2 digits")
    return "train" if small else part_of("".join(pair.target))


def sentences(kind: str, part: str, size: int) -> list[Phrase]:
    """Up to so many different sentences of this kind and part.

    A sentence whose facts belong to different parts is in none of them.
    """
    rng = random.Random(f"{kind}, {part}")
    found: dict[str, Phrase] = {}
    for _ in range(9000):
        drawn = phrase(kind, rng)
        if {part_of(fact) for fact in drawn.facts} == {part}:
            found[drawn.english] = drawn
        if len(found) == size:
            break
    return list(found.values())


def phrase_pair(phrase: Phrase) -> Pair:
    source = english_tokens(phrase.english)
    return Pair(source, chinese_tokens(phrase.chinese), phrase.kind)


# --8<-- [end:translator]
