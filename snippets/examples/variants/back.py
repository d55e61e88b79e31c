import json
import statistics
from pathlib import Path

import train

folder = Path(train.__file__).with_name("results")
measured = json.loads((folder / "variants.json").read_text(encoding="utf-8"))
for name, rate in measured["best"]["back"].items():
    best = [
        run
        for run in measured["runs"]
        if (run["task"], run["variant"], run["rate"]) == ("back", name, rate)
    ]
    print(f"{name}, rate: {rate}")
    for what in best[0]:
        if "length" in what:
            fraction = statistics.mean(run[what] for run in best)
            print(f"{name}, {what}: {fraction:.1%}")
