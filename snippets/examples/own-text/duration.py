import json
from pathlib import Path

import transformer
from train_pairs import SIZES

folder = Path(transformer.__file__).with_name("results")
text = (folder / "own-corpus.json").read_text(encoding="utf-8")
measured = json.loads(text)
print("pairs:", f"{measured['pairs']:,}")
for size, seconds in measured["seconds a step"].items():
    hours = seconds * SIZES[size]["steps"] / 3600
    print(f"{size}, seconds a step: {seconds:.2f}")
    print(f"{size}, hours: {hours:.0f}")
trained = measured["trained"]
print(f"trained, steps: {trained['steps']:,}")
for name in ("hours", "BLEU (zh)", "chrF2"):
    print(f"trained, {name}: {trained[name]:.1f}")
