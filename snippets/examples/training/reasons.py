import json
import statistics
from pathlib import Path

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
