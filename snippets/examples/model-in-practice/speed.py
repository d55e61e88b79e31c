import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
measured = json.loads((folder / "model.json").read_text())
print("d_model:", measured["model"]["d_model"])
print("layers in each stack:", measured["model"]["layers"])
for kind in "time", "memory":
    for row in measured["rows"]:
        size = " × ".join(map(str, row["size"]))
        for path in "explicit", "fused":
            print(f"{kind}, {path}, {size}: {row[kind][path]:.2f}")
