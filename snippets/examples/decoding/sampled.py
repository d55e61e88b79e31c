from pathlib import Path

import torch

import corpus
import translator
from decode import greedy_decode, sample, translate

path = Path(translator.__file__).with_name("translator.safetensors")
model, source, target = translator.load_translator(path)
pairs = corpus.translator("validation")[:200]
src = translator.padded(
    torch.tensor(source.encode(pair.source)) for pair in pairs
)


def share_right(ids):
    found = [target.decode(row) for row in ids.tolist()]
    right = [a == pair.target for a, pair in zip(found, pairs, strict=True)]
    return sum(right) / len(pairs)


print(f"greedy: {share_right(greedy_decode(model, src, 60, 1, 2)):.0%}")
for name, options in {
    "temperature 0.5": {"temperature": 0.5},
    "as it is": {},
    "temperature 1.5": {"temperature": 1.5},
    "top_k 2": {"top_k": 2},
    "top_p 0.8": {"top_p": 0.8},
    "all tokens equally likely": {"temperature": 1e9},
}.items():
    generator = torch.Generator().manual_seed(0)
    ids = sample(model, src, 60, 1, 2, generator=generator, **options)
    print(f"{name}: {share_right(ids):.0%}")


def draw(logits):
    """A token, without what label smoothing has added to each."""
    probs = logits.softmax(dim=-1) - 0.1 / logits.size(-1)
    return probs.clamp(min=0).multinomial(1, generator=generator)[:, 0]


generator = torch.Generator().manual_seed(0)
ids = translate(model, src, 60, 1, 2, use_cache=True, choose=draw)
print(f"without the smoothing: {share_right(ids):.0%}")
