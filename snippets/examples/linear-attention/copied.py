import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
measured = json.loads((folder / "copying.json").read_text(encoding="utf-8"))
print(f"tokens: {measured['tokens']}")
print(f"width: {measured['width']}")
print(f"steps: {measured['steps']:,}")
runs: dict[str, list[float]] = {}
for run in measured["runs"]:
    name = f"{run['mix']}, {run['n']}"
    runs.setdefault(name, []).append(run["copied"])
for name, found in runs.items():
    ends = [f"{100 * end:.1f}" for end in (min(found), max(found))]
    print(f"{name}: {'–'.join(dict.fromkeys(ends))}%")
