import random
from math import sqrt
from pathlib import Path

import corpus
import phrases
import translator
from corpus import Pair

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
seen = {tuple(pair.source) for pair in corpus.translator("train")}
rng = random.Random(0)


def new_sentences(part: str, size: int) -> list[Pair]:
    """Sentences that are not in the training set, with facts of this part."""
    pairs: dict[tuple, Pair] = {}
    while len(pairs) < size:
        drawn = phrases.phrase(rng.choice(phrases.KINDS), rng)
        pair = corpus.phrase_pair(drawn)
        parts = {phrases.part_of(fact) for fact in drawn.facts}
        if parts == {part} and (key := tuple(pair.source)) not in seen:
            pairs[key] = pair
    return list(pairs.values())


def purchases(things: int, size: int) -> list[Pair]:
    """We bought two books, a pen and so on; the training set has up to two."""
    pairs: dict[tuple, Pair] = {}
    while len(pairs) < size:
        subject = rng.choice(phrases.SUBJECTS)
        bought = rng.sample(phrases.THINGS_OF["goods"], things)
        counts = [phrases.counted(rng, rng.randint(1, 12), it) for it in bought]
        english = " and ".join(english for english, _ in counts)
        chinese = "和".join(chinese for _, chinese in counts)
        source = corpus.english_tokens(f"{subject.english} bought {english}")
        target = corpus.chinese_tokens(f"{subject.chinese}买了{chinese}")
        if tuple(source) not in seen:
            pairs[tuple(source)] = Pair(source, target, "purchase")
    return list(pairs.values())


def show(name: str, pairs: list[Pair]) -> None:
    """The fraction translated correctly, with Wilson's 95% interval."""
    n, z = len(pairs), 1.96
    p = translator.exact_match(trained, pairs)["all"]
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 / z + z / n)
    print(f"{name}, sentences: {n}")
    print(f"{name}: {p:.1%}")
    print(f"{name}, interval: {middle - half:.1%}–{middle + half:.1%}")


show("facts of the training part", new_sentences("train", 1000))
held_out = new_sentences("test", 1000)
show("facts of the test part", held_out)
characters = len(trained.target)
level = sum(characters ** -len(pair.target) for pair in held_out) / 1000
print(f"guessing each character: {level:.0e}")
for things in 2, 3, 4:
    show(f"{things} things bought", purchases(things, 200))
