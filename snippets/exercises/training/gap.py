import math
from pathlib import Path

import corpus
import translator
from batching import example_of
from decode import eval_mode
from translator import PAD

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
vocab_size = len(trained.target)
best = math.log((1 - 0.1 + 0.1 / vocab_size) / (0.1 / vocab_size))
print(f"best for {vocab_size} tokens: {best:.2f}")

pairs = corpus.translator("validation")[:200]
examples = [example_of(trained, pair) for pair in pairs]
src, tgt = map(translator.padded, zip(*examples, strict=True))
with eval_mode(trained.model):
    logits = trained.model(src, tgt[:, :-1])[tgt[:, 1:] != PAD]
logits, _ = logits.sort(dim=-1, descending=True)
gap = logits[:, 0] - logits[:, 1:].mean(dim=-1)
print(f"median of the trained model: {gap.median():.2f}")
