import json
import statistics
from pathlib import Path

import train

folder = Path(train.__file__).with_name("results")
measured = json.loads((folder / "ablations.json").read_text(encoding="utf-8"))
print("steps:", measured["steps"])
print("numbers to learn from:", measured["numbers"])
print("numbers held out:", measured["held out"])
print(f"CPU seconds of a run: {measured['seconds']:.0f}")
print("comparisons:", measured["comparisons"])
for name, rate in measured["best"].items():
    best = [
        run
        for run in measured["runs"]
        if (run["variant"], run["rate"]) == (name, rate)
    ]
    match = [run["match"] for run in best]
    excess = statistics.mean(run["excess"] for run in best)
    print(f"{name}, rate: {rate}")
    print(f"{name}, match: {statistics.mean(match):.1%}")
    print(f"{name}, from, to: {min(match) * 100:.1f}–{max(match):.1%}")
    print(f"{name}, excess: {excess:.4f}")
    if name in measured["ratios"]:
        ratio, low, high = measured["ratios"][name]
        print(f"{name}, ratio: {ratio:.2f}")
        print(f"{name}, interval: {low:.2f}–{high:.2f}")
