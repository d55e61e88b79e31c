"""Prints how much snippets/translator.js, run by Node, differs from the PyTorch translator."""

import statistics

from bookbuild.generated.cross_attention import TRANSLATOR_WEIGHTS
from bookbuild.generated.javascript_model import (
    TRANSLATOR_JS,
    compare_outputs,
    comparison_pairs,
    compute_reference,
    load_trained_translator,
    run_in_node,
    to_float16,
    translation_tasks,
)

pairs = comparison_pairs()
reference = compute_reference(load_trained_translator(), pairs)
rounded_reference = compute_reference(load_trained_translator(rounded=True), pairs)
tasks = translation_tasks(pairs, reference)
float32_weights, float16_weights = TRANSLATOR_WEIGHTS.read_bytes(), to_float16()
float32_outputs, float16_outputs = (
    [*run_in_node("translate", [TRANSLATOR_JS], weights, tasks)]
    for weights in (float32_weights, float16_weights)
)

print("sentences:", len(pairs))
print("kinds:", len({pair.kind for pair in pairs}))
print("characters:", sum(len(sentence["greedy"]) for sentence in reference))
print("float16 file, MB:", f"{len(float16_weights) / 1e6:.1f}")
print("float32 file, MB:", f"{len(float32_weights) / 1e6:.1f}")
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
time = statistics.median(sentence["milliseconds"] for sentence in float16_outputs)
print("characters a second:", 10 * round(100 / time))
