import json
import statistics
from pathlib import Path

import train

folder = Path(train.__file__).with_name("results")
measured = json.loads((folder / "variants.json").read_text(encoding="utf-8"))
runs = [run for run in measured["runs"] if run["task"] == "back"]
for name in dict.fromkeys(run["variant"] for run in runs):
    own = [run for run in runs if run["variant"] == name]
    for what in own[0]:
        if "length" in what:
            share = statistics.mean(run[what] for run in own)
            print(f"{name}, {what}: {share:.1%}")
