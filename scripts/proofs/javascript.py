"""Prints how far snippets/translator.js, run by Node, is from the translator in PyTorch."""

import statistics
import tempfile
from pathlib import Path

from bookbuild.reference import javascript_model

pairs = javascript_model.sentences()
whole = javascript_model.reference(javascript_model.load(), pairs)
coarse = javascript_model.reference(javascript_model.round_weights(javascript_model.load()), pairs)
asked = javascript_model.driver_input(pairs, whole.greedy)
with tempfile.TemporaryDirectory() as folder:
    halved = Path(folder) / "translator-float16.safetensors"
    halved.write_bytes(javascript_model.to_float16())
    by = {
        "float32": javascript_model.run_in_node(javascript_model.TRANSLATOR_WEIGHTS, asked),
        "float16": javascript_model.run_in_node(halved, asked),
    }

print("sentences:", len(pairs))
print("kinds:", len({pair.kind for pair in pairs}))
print("longest source, words:", max(len(pair.source) for pair in pairs))
print("characters:", sum(map(len, whole.greedy)))
print("float16 file, MB:", f"{len(javascript_model.to_float16()) / 1e6:.1f}")
print("float32 file, MB:", f"{javascript_model.TRANSLATOR_WEIGHTS.stat().st_size / 1e6:.1f}")
compared = {
    "float32": javascript_model.difference(by["float32"], whole),
    "float16": javascript_model.difference(by["float16"], whole),
    "float16, rounded alike": javascript_model.difference(by["float16"], coarse),
}
for name, found in compared.items():
    print(f"{name}, same by greedy:", found.greedy)
    print(f"{name}, same by beam:", found.beam)
    print(f"{name}, logits:", f"{found.logits:.1e}")
    print(f"{name}, attention:", f"{found.attention:.1e}")
times = by["float16"]["times"]
print("characters a second:", 10 * round(100 / statistics.median(times)))
