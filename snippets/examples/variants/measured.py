import json
import statistics
from collections import Counter
from pathlib import Path

import train

folder = Path(train.__file__).with_name("results")
measured = json.loads((folder / "variants.json").read_text(encoding="utf-8"))
print("steps:", measured["steps"])
print("comparisons:", measured["comparisons"])
test = train.TASKS["numerals"].pairs("test")
counts = Counter(tuple(pair.target) for pair in test)
print(f"guessing, match: {max(counts.values()) / len(test):.1%}")
for name, rate in measured["best"]["numerals"].items():
    best = [
        run
        for run in measured["runs"]
        if (run["task"], run["variant"], run["rate"])
        == ("numerals", name, rate)
    ]
    match = [run["test"] for run in best]
    print(f"{name}, rate: {rate}")
    print(f"{name}, parameters: {best[0]['parameters']:,}")
    seconds = statistics.median(run["seconds"] for run in best)
    print(f"{name}, CPU seconds: {seconds:.0f}")
    print(f"{name}, match: {statistics.mean(match):.1%}")
    print(f"{name}, from, to: {min(match) * 100:.1f}–{max(match):.1%}")
    for digits in "11", "12":
        fraction = statistics.mean(run[digits] for run in best)
        print(f"{name}, {digits} digits: {fraction:.1%}")
    for step in best[0]["excess"]:
        excess = statistics.mean(run["excess"][step] for run in best)
        print(f"{name}, excess at step {step}: {excess:.4f}")
        if name in measured["ratios"]:
            ratio, low, high = measured["ratios"][name][step]
            print(f"{name}, ratio at step {step}: {ratio:.2f}")
            print(f"{name}, interval at step {step}: {low:.2f}–{high:.2f}")
