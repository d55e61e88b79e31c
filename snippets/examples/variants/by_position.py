import json
import statistics
from pathlib import Path

import train

folder = Path(train.__file__).with_name("results")
text = (folder / "variants-positions.json").read_text(encoding="utf-8")
measured = json.loads(text)
print(f"guessing: {measured['guessing']:.0%}")
for distance in 1, 3:
    runs = [run[f"{distance} back"] for run in measured["runs"]]
    weights = [run[f"{distance} back, weights"] for run in measured["runs"]]
    for steps in distance, 39:
        weight = statistics.mean(each[steps] for each in weights)
        print(f"{distance} back, weight at distance {steps}: {weight:.2f}")
    for position in 20, 30, 35, 39:
        fraction = statistics.mean(run[position - distance] for run in runs)
        print(f"{distance} back, position {position}: {fraction:.0%}")
correct = measured["fitted"]["correct"]
print(f"ALiBi, fitted: {correct:.0%}")
