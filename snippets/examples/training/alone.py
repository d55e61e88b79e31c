from pathlib import Path

import corpus
import translator
from decode import eval_mode
from train import example_of
from translator import PAD

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
pairs = corpus.translator("validation")[:1000]
examples = [example_of(trained, pair) for pair in pairs]
src, tgt = map(translator.padded, zip(*examples, strict=True))
wanted = tgt[:, 1:]
with eval_mode(trained.model):
    said = trained.model(src, tgt[:, :-1]).argmax(dim=-1)
real = wanted != PAD
right = (said == wanted)[real].double().mean().item()
print(f"given the right beginning, characters right: {right:.3%}")
length = real.sum(dim=-1).double().mean().item()
print(f"characters of a sentence, <eos> among them: {length:.1f}")
whole = (said == wanted).masked_fill(~real, True).all(dim=-1)
print(f"given the right beginning, all of them right: {whole.sum()}")
match = translator.exact_match(trained, pairs)["all"]
print(f"alone, all of them right: {match * len(pairs):.0f}")
