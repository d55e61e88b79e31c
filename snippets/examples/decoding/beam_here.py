from pathlib import Path

import torch
import torch.nn.functional as F

import corpus
import translator
from decode import beam_search, eval_mode, greedy_decode, sentence_score

path = Path(translator.__file__).with_name("translator.safetensors")
model, source, target = translator.load_translator(path)
pairs = corpus.translator("validation")[:200]
src = translator.padded(
    torch.tensor(source.encode(pair.source)) for pair in pairs
)


def sentences(ids):
    return [target.decode(row) for row in ids.tolist()]


def count_equal(one, other):
    return sum(a == b for a, b in zip(one, other, strict=True))


wanted = [pair.target for pair in pairs]
ids = greedy_decode(model, src, 60, 1, 2)
greedy = sentences(ids)
total = sentence_score(model, src, ids, bos_id=1)  # logarithms
per_token = (total / (ids != 0).sum(dim=-1)).exp()
with eval_mode(model):
    logits = model(src, F.pad(ids[:, :-1], (1, 0), value=1))
second = logits.softmax(dim=-1)[ids != 0].topk(2).values[:, 1]
print("sentences:", len(pairs))
print(f"a guess among all tokens: {1 / logits.size(-1):.1%}")
print(f"second most likely token, at most: {second.max():.1%}")
print(f"probability of a token, median: {per_token.median():.2f}")
print(f"probability of a sentence, median: {total.exp().median():.2f}")
print("greedy, right:", count_equal(greedy, wanted))
for size in 2, 4, 8:
    found = sentences(beam_search(model, src, 60, 1, 2, size))
    print(f"beam of {size}, right:", count_equal(found, wanted))
    changed = len(pairs) - count_equal(found, greedy)
    print(f"beam of {size}, other sentences than greedy:", changed)
