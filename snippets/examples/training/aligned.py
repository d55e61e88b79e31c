from pathlib import Path

import torch

import corpus
import translator
from attention_weights import weights_of
from batching import example_of
from numerals import SMALL, TENS

WORDS = {"anna": "安娜", "beijing": "北京", "coffee": "咖啡", "doctor": "医生"}
WORDS |= {
    "dumplings": "饺子",
    "film": "电影",
    "friday": "星期五",
    "tom": "汤姆",
}
WORDS |= {"music": "音乐", "piano": "钢琴", "shirt": "衬衫", "why": "为什么"}


def numerals(pair):
    """Where each numeral comes from: (place in target, place in source).

    Both languages name the digits that are not 0 in the same order; "eleven"
    to "nineteen" carry two of them, and a 十 that begins a number has no 一.
    """
    words = []
    for j, word in enumerate(pair.source):
        if word in SMALL[1:] or word in TENS:
            words += [j, j] if word in SMALL[11:] else [j]
    target = enumerate(pair.target)
    places = [i for i, c in target if c in "一二三四五六七八九" or i == 0]
    return zip(places, words, strict=True)


def characters(pair, which):
    """The same for the words of the table: the first character, or another."""
    for j, word in enumerate(pair.source):
        chinese = list(WORDS.get(word, ""))
        for i in range(len(pair.target) if chinese else 0):
            if pair.target[i : i + len(chinese)] == chinese:
                yield i + which, j


def shares(pairs, find, *which):
    """How often each head looks most at the word when the character is due."""
    examples = [example_of(trained, pair) for pair in pairs]
    src, tgt = map(translator.padded, zip(*examples, strict=True))
    names = [f"decoder.layers.{i}.cross_attention" for i in (0, 1)]
    crossing = [weights_of(trained.model, n, src, tgt[:, :-1]) for n in names]
    most = torch.stack(crossing).argmax(dim=-1)
    # (layer, sentence, head, character)
    right = [
        most[:, k, :, place] == word
        for k, pair in enumerate(pairs)
        for place, word in find(pair, *which)
    ]
    return torch.stack(right).float().mean(dim=0), len(right)


path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
validation, test = map(corpus.translator, ("validation", "test"))
for name, find, *which in (
    ("numerals", numerals),
    ("first characters", characters, 0),
    ("second characters", characters, 1),
):
    number = find is numerals
    chosen, _ = shares(
        [p for p in validation if (p.kind == "number") == number], find, *which
    )
    for i, layer in enumerate(chosen):
        row = [f"{share:.0%}" for share in layer]
        print(f"{name}, layer {i}, heads:", *row)
    found, count = shares(
        [p for p in test if (p.kind == "number") == number], find, *which
    )
    print(f"{name}, in test: {count}")
    level = [
        1 / len(pair.source)  # one word of the source, chosen at random
        for pair in test
        if (pair.kind == "number") == number
        for _ in find(pair, *which)
    ]
    print(f"{name}, guessing in test: {sum(level) / count:.1%}")
    best = found.flatten()[chosen.argmax()]  # the head that was best before
    print(f"{name}, the best head in test: {best:.1%}")
    lowest = found[-1].min()
    print(f"{name}, the lowest of the last layer in test: {lowest:.1%}")
