from pathlib import Path
from statistics import mean

import corpus
import translator
from attention_weights import weights_of
from batching import example_of

LAST = "decoder.layers.1.cross_attention"


def run(pairs):
    """The likeliest characters, and where the heads of the last layer look."""
    examples = [example_of(trained, pair) for pair in pairs]
    src, tgt = map(translator.padded, zip(*examples, strict=True))
    weights = weights_of(trained.model, LAST, src, tgt[:, :-1])
    predicted = trained.model(src, tgt[:, :-1]).argmax(dim=-1)
    return predicted, weights.argmax(dim=-1)  # (sentence, head, character)


path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
test = corpus.translator("test")
for word, other, chinese in (
    ("tom", "anna", "汤姆"),
    ("doctor", "teacher", "医生"),
    ("friday", "monday", "星期五"),
):
    pairs = [
        pair
        for pair in test
        if word in pair.source and chinese in "".join(pair.target)
    ]
    swapped = [
        pair._replace(source=[other if x == word else x for x in pair.source])
        for pair in pairs
    ]
    _, looks = run(pairs)
    predicted, _ = run(swapped)
    print(f"{word}, sentences: {len(pairs)}")
    for i, (character, id_) in enumerate(
        zip(chinese, trained.target.encode(chinese), strict=True)
    ):
        looked, right = [], []
        for k, pair in enumerate(pairs):
            place = "".join(pair.target).index(chinese) + i
            at_word = looks[k, :, place] == pair.source.index(word)
            looked += at_word.tolist()
            right.append(predicted[k, place].item() == id_)
        print(f"{character}, heads that look at {word}: {mean(looked):.0%}")
        print(
            f"{character}, right with {other} in its place: {mean(right):.0%}"
        )
