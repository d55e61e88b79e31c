import json
import statistics
from pathlib import Path

import train

folder = Path(train.__file__).with_name("results")
measured = json.loads((folder / "variants.json").read_text(encoding="utf-8"))
runs = [run for run in measured["runs"] if run["task"] == "numerals"]
print("steps:", measured["steps"])
for name in dict.fromkeys(run["variant"] for run in runs):
    own = [run for run in runs if run["variant"] == name]
    match = [run["test"] for run in own]
    mean = {
        key: statistics.mean(run[key] for run in own) for key in ("11", "12")
    }
    print(f"{name}, match: {statistics.mean(match):.2%}")
    print(f"{name}, from, to: {min(match) * 100:.2f}–{max(match):.2%}")
    for digits, share in mean.items():
        print(f"{name}, {digits} digits: {share:.1%}")
    early = statistics.mean(run["curve"][2] for run in own)
    print(f"{name}, loss by step 300: {early:.3f}")
    seconds = statistics.median(run["seconds"] for run in own)
    print(f"{name}, CPU seconds: {seconds:.0f}")
    print(f"{name}, parameters: {own[0]['parameters']:,}")
