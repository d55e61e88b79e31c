from collections import Counter
from statistics import mean

import corpus
from numerals import SMALL, TENS, to_english

words = [*SMALL, *TENS, "hundred", "thousand", "and"]
power = {word: 16**i for i, word in enumerate(words)}


def bag(tokens):
    """A number that depends on the words and not on their order."""
    return sum(power[token] for token in tokens)


small = [bag(corpus.english_tokens(to_english(n))) for n in range(1000)]
numbers_with = Counter(small)
for head in small[1:]:
    numbers_with[head + power["thousand"]] += 1
    for n, tail in enumerate(small[1:], 1):
        joined = power["and"] if n < 100 else 0
        numbers_with[head + power["thousand"] + joined + tail] += 1

held_out = corpus.numbers("validation", digits=6, draws=20_000, held_out=1000)
same = [numbers_with[bag(pair.source)] for pair in held_out]
print(f"any number below a million: {1 / numbers_with.total():.4%}")
print(f"any with the same words: {mean(1 / n for n in same):.0%}")
print(f"only one has the words: {mean(n == 1 for n in same):.0%}")
