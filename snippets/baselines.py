# --8<-- [start:nearest]
"""Two translators without a neural network, to compare with.

The translation of the most similar training sentence, and a dictionary that
is learned from the pairs: IBM model 1. Needs: pip install rapidfuzz jieba
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain

import jieba
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from sentence_pairs import Text


def nearest(pairs: list[Text], sources: Iterable[str]) -> Iterator[Text]:
    """The training pair whose source has the smallest edit distance to each.

    The distance is in characters, in any case of letters, divided by the
    length of the longer text. Of equals, the first pair.
    """
    known = [pair.source.casefold() for pair in pairs]
    for source in sources:
        found = process.extractOne(  # type: ignore[no-matching-overload]
            source.casefold(), known, scorer=Levenshtein.normalized_distance
        )
        yield pairs[found[2]]


# --8<-- [end:nearest]
# --8<-- [start:dictionary]
Table = dict[str, dict[str, float]]  # t(chinese word | english word)


def english_words(text: str) -> list[str]:
    return re.findall(r"\{\}|\w+|[^\w\s]", text.casefold())


def chinese_words(text: str) -> list[str]:
    parts = re.split(r"(\{\})", text)
    words = ([part] if part == "{}" else jieba.lcut(part) for part in parts)
    return [*chain.from_iterable(words)]


def learn_dictionary(pairs: list[Text], iterations: int = 5) -> Table:
    """IBM model 1 by expectation maximization, with "" as the empty word.

    Source: Brown et al. 1993, section 4.1.
    """
    texts = [
        (["", *english_words(pair.source)], chinese_words(pair.target))
        for pair in pairs
    ]
    table: Table = defaultdict(lambda: defaultdict(lambda: 1.0))
    for _ in range(iterations):
        counts: Table = defaultdict(lambda: defaultdict(float))
        for english, chinese in texts:
            for word in chinese:
                total = sum(table[each][word] for each in english)
                for each in english:
                    counts[each][word] += table[each][word] / total
        table = {
            each: {word: n / sum(row.values()) for word, n in row.items()}
            for each, row in counts.items()
        }
    return table


def word_by_word(table: Table, source: str) -> str:
    """The likeliest word for each, in the same order; unknown ones stay."""
    found = []
    for each in english_words(source):
        row = table.get(each, {each: 1.0})
        found.append(max(row, key=row.__getitem__))
    return "".join(found)


# --8<-- [end:dictionary]
