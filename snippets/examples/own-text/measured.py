import json
import math
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
text = (folder / "own-text.json").read_text(encoding="utf-8")
measured = json.loads(text)
curve, parts = measured["curve"], measured["parts"]
print("lines:", f"{measured['lines']:,}")
print("dropped:", f"{sum(measured['dropped'].values()):,}")
for part, count in parts.items():
    print(f"{part}: {count:,}")
print("steps:", f"{curve[-1]['step']:,}")
print("minutes:", round(measured["seconds"] / 60))
print("clipped:", sum(point["clipped"] for point in curve))
last = max(point["step"] for point in curve if point["clipped"])
print("last clipped before step:", last)
print("largest norm:", f"{max(point['norm'] for point in curve):.1f}")
for point in curve[:1] + curve[-1:]:
    perplexity = math.exp(point["held_out"])
    print(f"validation perplexity, step {point['step']}: {perplexity:.3g}")
for name, score in measured["scores"].items():
    print(f"{name}: {score:.2f}")
for run in measured["short"]:
    loss = run["curve"][-1]["held_out"]
    norm = "pre-norm" if run["norm_first"] else "post-norm"
    warm_up = "with" if run["warm-up"] else "without"
    clip = "clipped" if run["clipping"] else "not clipped"
    print(f"{norm}, {warm_up}, {clip}, seed {run['seed']}: {loss:.2f}")
