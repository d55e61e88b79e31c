from pathlib import Path

import corpus
import translator
from phrases import KINDS

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
pairs = [
    corpus.phrase_pair(phrase)
    for kind in KINDS
    for phrase in corpus.sentences(kind, "validation", 400)
]
pairs.sort(key=lambda pair: len(pair.target))
print("sentences:", len(pairs))
wrong = 0
for i in range(0, len(pairs), 256):
    batch = pairs[i : i + 256]
    found = trained.translate([pair.source for pair in batch], 40)
    for pair, target in zip(batch, found, strict=True):
        if target != pair.target:
            wrong += 1
            print(f"\n{' '.join(pair.source)}")
            print("  right: ", "".join(pair.target))
            print("  wrong: ", "".join(target))
print("\nall the wrong ones:", wrong)
