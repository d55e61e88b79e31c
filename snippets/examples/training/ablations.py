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
variants = dict.fromkeys(run["variant"] for run in measured["runs"])
for name in variants:
    own = [run for run in measured["runs"] if run["variant"] == name]
    match = [run["match"] for run in own]
    print(f"{name}, match: {statistics.mean(match):.1%}")
    print(f"{name}, from, to: {min(match) * 100:.1f}–{max(match):.1%}")
    loss = statistics.mean(run["held-out loss"] for run in own)
    print(f"{name}, loss: {loss:.3f}")
    soon = [run["nine of ten after"] or "–" for run in own]
    print(f"{name}, nine of ten after:", *sorted(soon, key=str))
