import json
from pathlib import Path
from statistics import median

import transformer

folder = Path(transformer.__file__).with_name("results")
text = (folder / "inside.json").read_text(encoding="utf-8")
measured = json.loads(text)
heads, sinks = measured["induction"], measured["sinks"]
print(f"length: {heads['length']}")
print(f"seeds: {heads['seeds']}")
print(f"new seeds: {heads['tested seeds']}")
print(f"lowest score: {min(heads['scores of the best']):.2f}")
scores = [score for row in heads["scores"] for score in row]
print(f"median score: {median(scores):.2f}")
print(f"loss: {heads['loss']:.1f}")
print(f"first half: {heads['loss of the first half']:.1f}")
print(f"first half without five: {heads['first half without them']:.1f}")
print(f"without the best: {heads['together'][0]:.1f}")
print(f"without the five: {heads['together'][-1]:.1f}")
single = [
    loss
    for layer, row in enumerate(heads["single"])
    for head, loss in enumerate(row)
    if [layer, head] not in heads["best"]
]
for name, losses in ("one", single), ("five", heads["others"]):
    print(f"other, {name}: {len(losses)}")
    print(f"other, {name}, median: {median(losses):.1f}")
    print(f"other, {name}, lowest: {min(losses):.1f}")
    print(f"other, {name}, highest: {max(losses):.1f}")
layer, _, score = heads["previous"][0]
print(f"previous, layer: {layer}")
print(f"previous, score: {score:.2f}")
print(f"previous, scores without: {max(heads['scores without previous']):.2f}")

first = sinks["first"]
print(f"tokens: {sinks['tokens']}")
print(f"equal: {sinks['equal']:.1%}")
print(f"largest: {max(first):.0%}")
print(f"layer of the largest: {first.index(max(first))}")
print(f"second: {sum(sinks['second']) / len(first):.1%}")
hidden = sum(sinks["second, first hidden"]) / len(first)
print(f"second, first hidden: {hidden:.0%}")
print(f"sink, loss: {sinks['loss']:.2f}")
print(f"sink, hidden from all: {sinks['hidden from all']:.2f}")
print(f"sink, hidden later: {sinks['hidden from the second half']:.2f}")
others = sinks["others hidden"]
print(f"sink, others: {len(others)}")
print(f"sink, others, lowest: {min(others):.2f}")
print(f"sink, others, highest: {max(others):.2f}")

agreement = measured["lens"]["agreement"]
for layer in 10, 20, 25, 29:
    print(f"lens, {layer}: {agreement[layer]:.0%}")
half = next(i for i, share in enumerate(agreement) if share >= 0.5)
print(f"lens, half: {half}")
