import itertools
import random

import corpus
from batching import batches, example_of
from translator import new_translator

pairs = corpus.translator("train")
sizes = {"d_model": 4, "nhead": 1}  # only its vocabularies are needed
translator = new_translator(pairs, **sizes)
examples = [example_of(translator, pair) for pair in pairs]


def padding(batches):
    """The share of the cells of the targets that is padding."""
    lengths = [[len(tgt) for _, tgt in batch] for batch in batches]
    cells = sum(max(batch) * len(batch) for batch in lengths)
    return 1 - sum(map(sum, lengths)) / cells


order = random.Random(0).sample(examples, len(examples))
drawn = [order[i : i + 64] for i in range(0, 500 * 64, 64)]
print(f"as drawn: {padding(drawn):.0%}")
ours = itertools.islice(batches(examples, 64, seed=0), 500)
print(f"of like length: {padding(ours):.0%}")
