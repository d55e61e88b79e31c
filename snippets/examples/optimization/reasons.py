import json
import statistics
from collections import Counter
from pathlib import Path

import corpus
import train

folder = Path(train.__file__).with_name("results")
measured = json.loads((folder / "ablations.json").read_text(encoding="utf-8"))


def mean(variant, rate, what):
    return statistics.mean(
        run[what]
        for run in measured["runs"]
        if (run["variant"], run["rate"]) == (variant, rate)
    )


print("steps:", measured["steps"])
held_out = corpus.numbers("validation", 6, draws=20_000, held_out=1000)
counts = Counter(tuple(pair.target) for pair in held_out)
print(f"always the same number, match: {max(counts.values()) / 1000:.1%}")
for name, variant in {"with": "ours", "without": "no smoothing"}.items():
    rate = measured["best"][variant]
    print(f"{name} smoothing, match: {mean(variant, rate, 'match'):.2%}")
    print(f"{name} smoothing, confidence: {mean(variant, rate, 'sure'):.1%}")
for norm, variants in {
    "pre-norm": ("ours", "no warm-up"),
    "post-norm": ("post-norm", "post-norm, no warm-up"),
}.items():
    for rate in 0.002, 0.004, 0.008:
        for name, variant in zip(("with", "without"), variants, strict=True):
            match = mean(variant, rate, "match")
            print(f"{norm}, {rate}, {name} warm-up: {match:.1%}")
