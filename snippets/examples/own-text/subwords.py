import random

import phrases
from sentence_pairs import Text, learn_subwords

rng = random.Random(0)
kinds = list(phrases.KINDS)
drawn = [phrases.phrase(rng.choice(kinds), rng) for _ in range(3000)]
texts = [Text(pair.english, pair.chinese) for pair in drawn]
subwords = learn_subwords(texts, vocab_size=2000)
print("subwords:", len(subwords.tokens))
for text in (
    "why do we work ?",
    "why do we overwork ?",
    "我们为什么工作？",
    "€",
):
    pieces = subwords.split(text)
    print([subwords.join([piece]) for piece in pieces])
    assert subwords.join(pieces) == text
