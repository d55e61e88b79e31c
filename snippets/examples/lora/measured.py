import json
from pathlib import Path
from statistics import mean

import transformer

folder = Path(transformer.__file__).with_name("results")
measured = json.loads((folder / "lora.json").read_text(encoding="utf-8"))
parameters = measured["parameters"]
print(f"parameters: {parameters:,}")
print(f"weights, MB: {4 * parameters / 1e6:.0f}")
print(f"in all, MB: {4 * 4 * parameters / 1e6:,.0f}")
print(f"steps: {measured['steps']}")
for name in "training", "validation", "test":
    print(f"{name}: {measured[name]}")
for each in measured["tries"]:
    name = f"rank {each['rank']}" if each["rank"] else "all"
    name = f"{name} at {each['learning rate']:g}"
    print(f"{name}, loss: {each['loss']:.4f}")
    print(f"{name}, correct: {each['correct']}")
    print(f"{name}, perplexity: {each['perplexity']:.1f}")
before = measured["before"]
print(f"before, correct: {before['correct']}")
print(f"before, correct with examples: {before['correct with examples']}")
print(f"before, perplexity: {before['perplexity']:.1f}")
runs = {}
for run in measured["runs"]:
    name = f"rank {run['rank']}" if run["rank"] else "all"
    runs.setdefault(name, []).append(run)
for name, group in runs.items():
    first = group[0]
    rate = f"{first['learning rate']:f}".rstrip("0")
    print(f"{name}, learning rate: {rate}")
    print(f"{name}, trained: {first['trained']:,}")
    size = first["gradients"] + first["optimizer"]
    print(f"{name}, memory, MB: {size / 1e6:,.1f}")
    seconds = mean(run["seconds a step"] for run in group)
    print(f"{name}, seconds: {seconds:.1f}")
    for score, digits in ("correct", 0), ("perplexity", 1):
        scores = sorted(run[score] for run in group)
        ends = [f"{end:.{digits}f}" for end in (scores[0], scores[-1])]
        both = "–".join(dict.fromkeys(ends))
        print(f"{name} in the test, {score}: {both}")
main = runs["rank 4"][0]
print(f"A and B of rank 4, MB: {4 * main['trained'] / 1e6:.1f}")
print(f"fraction trained: {main['trained'] / parameters:.2%}")
print(f"largest logit: {main['largest logit']:.1f}")
print(f"difference after merging: {main['difference']:.1e}")
