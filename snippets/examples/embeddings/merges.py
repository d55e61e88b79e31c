from collections import Counter
from itertools import pairwise


def join(symbols, pair):
    joined = []
    for symbol in symbols:
        if joined and (joined[-1], symbol) == pair:
            joined[-1] += symbol
        else:
            joined.append(symbol)
    return joined


pieces, merges = [list("walk"), list(" walk"), list(" talk")], []
for _ in range(3):
    pairs = Counter(pair for piece in pieces for pair in pairwise(piece))
    first, second = pairs.most_common(2)  # of equals, the first seen
    print(first, second)
    merges.append(first[0])
    pieces = [join(piece, merges[-1]) for piece in pieces]
    print("|".join(symbol for piece in pieces for symbol in piece))

tall = list("tall")  # a new word
for pair in merges:
    tall = join(tall, pair)
print("|".join(tall))
