"""Prints how much snippets/translator.js, run by Node, differs from the PyTorch translator."""

import statistics
import tempfile
from pathlib import Path

from bookbuild.reference import javascript_model
from bookbuild.reference.javascript_model import compare_outputs, load_trained_translator

pairs = javascript_model.comparison_pairs()
reference = javascript_model.compute_reference(load_trained_translator(), pairs)
rounded = javascript_model.round_weights(load_trained_translator())
rounded_reference = javascript_model.compute_reference(rounded, pairs)
task = javascript_model.driver_input(pairs, reference.greedy)
with tempfile.TemporaryDirectory() as folder:
    float16_weights = Path(folder) / "translator-float16.safetensors"
    float16_weights.write_bytes(javascript_model.to_float16())
    float32_outputs = javascript_model.run_in_node(javascript_model.TRANSLATOR_WEIGHTS, task)
    float16_outputs = javascript_model.run_in_node(float16_weights, task)

print("sentences:", len(pairs))
print("kinds:", len({pair.kind for pair in pairs}))
print("longest source, words:", max(len(pair.source) for pair in pairs))
print("characters:", sum(map(len, reference.greedy)))
print("float16 file, MB:", f"{len(javascript_model.to_float16()) / 1e6:.1f}")
print("float32 file, MB:", f"{javascript_model.TRANSLATOR_WEIGHTS.stat().st_size / 1e6:.1f}")
differences = {
    "float32": compare_outputs(float32_outputs, reference),
    "float16": compare_outputs(float16_outputs, reference),
    "float16, rounded alike": compare_outputs(float16_outputs, rounded_reference),
}
for name, difference in differences.items():
    print(f"{name}, same by greedy:", difference.greedy)
    print(f"{name}, same by beam:", difference.beam)
    print(f"{name}, logits:", f"{difference.logits:.1e}")
    print(f"{name}, attention:", f"{difference.attention:.1e}")
times = float16_outputs["times"]
print("characters a second:", 10 * round(100 / statistics.median(times)))
