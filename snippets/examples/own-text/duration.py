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

text = (folder / "real-corpus.json").read_text(encoding="utf-8")
measured = json.loads(text)
settings, small = measured["settings"], SIZES["small"]
tokens = small["steps"] * small["batch_size"]
measured_tokens = settings["steps"] * settings["batch_size"]
print("times as many tokens:", tokens // measured_tokens)
