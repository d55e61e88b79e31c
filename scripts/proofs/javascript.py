"""Prints how far snippets/translator.js, run by Node, is from the translator in PyTorch."""

import statistics
import tempfile
from pathlib import Path

import live

pairs = live.sentences()
whole = live.reference(live.load(), pairs)
coarse = live.reference(live.rounded(live.load()), pairs)
asked = live.task(pairs, whole.greedy)
with tempfile.TemporaryDirectory() as folder:
    halved = Path(folder) / "translator-float16.safetensors"
    halved.write_bytes(live.halved())
    by = {"float32": live.by_node(live.WEIGHTS, asked), "float16": live.by_node(halved, asked)}

print("sentences:", len(pairs))
print("kinds:", len({pair.kind for pair in pairs}))
print("longest source, words:", max(len(pair.source) for pair in pairs))
print("characters:", sum(map(len, whole.greedy)))
print("float16 file, MB:", f"{len(live.halved()) / 1e6:.1f}")
print("float32 file, MB:", f"{live.WEIGHTS.stat().st_size / 1e6:.1f}")
compared = {
    "float32": live.difference(by["float32"], whole),
    "float16": live.difference(by["float16"], whole),
    "float16, rounded alike": live.difference(by["float16"], coarse),
}
for name, found in compared.items():
    print(f"{name}, same by greedy:", found.greedy)
    print(f"{name}, same by beam:", found.beam)
    print(f"{name}, logits:", f"{found.logits:.1e}")
    print(f"{name}, attention:", f"{found.attention:.1e}")
times = by["float16"]["times"]
print("characters a second:", 10 * round(100 / statistics.median(times)))
