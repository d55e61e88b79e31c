# --8<-- [start:words]
"""Byte-pair encoding: join the most frequent neighbors, again and again.

Source: Sennrich, Haddow and Birch 2016, arXiv:1508.07909, section 3.2.
"""

import re
from collections import Counter
from itertools import pairwise


def words(text):
    """Each word, with a space before it, as a list of its characters."""
    return [list(word) for word in re.findall(r" ?\w+| ?[^\w\s]+|\s", text)]


def join(symbols, pair):
    """The symbols, with each occurrence of the pair joined into one."""
    joined = []
    for symbol in symbols:
        if joined and (joined[-1], symbol) == pair:
            joined[-1] += symbol
        else:
            joined.append(symbol)
    return joined


# --8<-- [end:words]
# --8<-- [start:merges]
def learn_merges(pieces, count):
    """The most frequent pair, joined everywhere; then the next: count times."""
    merges = []
    for _ in range(count):
        pairs = Counter(pair for word in pieces for pair in pairwise(word))
        if not pairs:
            break
        merges.append(pairs.most_common(1)[0][0])
        pieces = [join(word, merges[-1]) for word in pieces]
    return merges


# --8<-- [end:merges]
# --8<-- [start:cut]
def cut(pieces, merges):
    """The tokens of a text: the merges applied in the order learned."""
    for pair in merges:
        pieces = [join(word, pair) for word in pieces]
    return [token for word in pieces for token in word]


# --8<-- [end:cut]
