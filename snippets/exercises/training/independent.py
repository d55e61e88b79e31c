from pathlib import Path

import corpus
import translator
from batching import example_of
from decode import eval_mode
from translator import PAD

print(f"needed of a character: {0.99 ** (1 / 11):.4f}")

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
pairs = corpus.translator("validation")
examples = [example_of(trained, pair) for pair in pairs]
src, tgt = map(translator.padded, zip(*examples, strict=True))
wanted = tgt[:, 1:]
with eval_mode(trained.model):
    wrong = trained.model(src, tgt[:, :-1]).argmax(dim=-1) != wanted
real = wanted != PAD
wrong &= real
rate = (wrong.sum() / real.sum()).item()
print(f"characters wrong: {rate:.3%}")
predicted = (1 - rate) ** real.sum(dim=-1).double()
print(f"sentences right, if independent: {predicted.mean():.2%}")
print(f"sentences right: {1 - wrong.any(dim=-1).double().mean():.2%}")
