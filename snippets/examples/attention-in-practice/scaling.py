import json
import statistics
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
measured = json.loads((folder / "scaling.json").read_text())
print("steps:", measured["steps"])
print("encoder steps:", measured["encoder steps"])


def found(field, **settings):
    return [
        run[field]
        for run in measured["runs"]
        if all(run[name] == value for name, value in settings.items())
    ]


for layers in 1, 2, 6:
    models = [new for new in measured["gradients"] if new["layers"] == layers]
    ratios = [ratio for new in models for ratio in new["ratios"]]
    print(f"{layers} layers, gradient of W_Q: {statistics.median(ratios):.0f}")
pairs, values = 8, 32  # another pair has the right value with probability 1/32
print(f"guess, one of all values: {1 / values:.0%}")
print(
    f"guess, value of a random pair: {1 / pairs + (1 - 1 / pairs) / values:.0%}"
)
for variant in "divided", "not divided":
    for d_k in 8, 256:
        steps = found(
            "nine of ten after", layers=0, variant=variant, d_k=d_k, rate=1e-3
        )
        print(f"{variant}, d_k = {d_k}, steps: {statistics.median(steps):.0f}")
    for layers in 1, 2, 6:
        right = found("right", layers=layers, variant=variant)
        print(f"{variant}, {layers} layers: {statistics.mean(right):.0%}")
steps = found("nine of ten after", layers=6, variant="divided")
print(f"divided, 6 layers, steps: {statistics.median(steps)}")
