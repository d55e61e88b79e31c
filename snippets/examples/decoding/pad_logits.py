from pathlib import Path

import corpus
import translator
from batching import example_of
from decode import eval_mode

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
pairs = corpus.translator("validation")[:100]
examples = [example_of(trained, pair) for pair in pairs]
src, tgt = map(translator.padded, zip(*examples, strict=True))
with eval_mode(trained.model):
    probs = trained.model(src, tgt[:, :-1]).softmax(dim=-1)
ended = tgt[:, 1:] == 0  # positions after <eos>
vocab_size = probs.size(-1)
print(f"smoothing / V: {0.1 / vocab_size:.5f}")
print(f"<pad> before the end, mean: {probs[~ended][:, 0].mean():.5f}")
print("positions after <eos>:", int(ended.sum()))
likeliest = probs[ended].argmax(dim=-1)
print("positions where <pad> is the most likely:", int((likeliest == 0).sum()))
