import json
from pathlib import Path
from statistics import mean

import transformer

folder = Path(transformer.__file__).with_name("results")
text = (folder / "training-decoders.json").read_text(encoding="utf-8")
runs = json.loads(text)["optimizers"]
for name in "AdamW", "Muon":
    own = [run for run in runs if run["name"] == name]
    for run in own:
        losses = ", ".join(f"{loss:.3f}" for loss in run["losses"])
        print(f"{name}, peak {run['peak']:g}: {losses}")
    best = min(own, key=lambda run: mean(run["losses"]))
    print(f"{name}, best mean: {mean(best['losses']):.3f}")
